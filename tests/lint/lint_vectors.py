"""The loops over pixels and samples are vectors: what the compiler made of direct_simd_avx*.c and
predict_simd_avx*.c does its arithmetic in whole vectors, and calls nobody's sine.

A compiler that gives up on a loop says nothing and gives the right values, only many times slower;
so the machine code is looked at. In each object, every function that computes in floating point
has vector instructions of its set's width, and on single numbers not one in a hundred.
"""
import os
import re
import shutil
import tempfile

import _tree as tree

# Of one number, where a vector is meant.
SCALAR = re.compile(r"\sv?(?:add|sub|mul|div|sqrt|max|min)s[sd]\s|\svfn?m(?:add|sub)\d+s[sd]\s")
PACKED = re.compile(r"\sv?(?:add|sub|mul|div|max|min)p[sd]\s|\svfn?m(?:add|sub)\d+p[sd]\s")
REGISTER = {"avx512": "%zmm", "avx2": "%ymm"}
FOREIGN = re.compile(r"\b(sin|cos|sincos|fma|rint|nearbyint|floor|round|fmod)f?$")
SETS = re.compile(r"(direct|predict)_simd_(avx2|avx512)\.c\.o$")
MOST_SINGLE = 0.01
# Functions with a loop over single numbers, and why.
ALLOWED = {
    "simd_scale": "its arrays may overlap; the vector loop is taken where they do not, or are one",
}

archive = os.path.join(tree.BUILD, "libsluice.a")
cache = os.path.join(tree.BUILD, "CMakeCache.txt")
for tool in ("ar", "nm", "objdump"):
    if not shutil.which(tool):
        tree.skip(f"no {tool} on PATH")
if not os.path.exists(archive) or not os.path.exists(cache):
    tree.skip(f"no {archive} (set SLUICE_BUILD_DIR)")
with open(cache, encoding="utf-8") as file:
    settings = file.read()
if "CMAKE_BUILD_TYPE:STRING=Release" not in settings:
    tree.skip("only a Release build is optimised")
if re.search(r"SLUICE_SANITIZE:STRING=\w", settings):
    tree.skip("sanitizers call their own functions everywhere")
if os.uname().machine != "x86_64":
    tree.skip("the sets are those of x86-64")

complaints = []
looked_at = 0


def functions(code):
    """(name, instructions) of each function of a disassembly."""
    for piece in re.split(r"\n\n", code):
        named = re.match(r"\s*[0-9a-f]+ <([^>]+)>:", piece)
        if named:
            yield named.group(1), piece


def look(path, member, width):
    """Complaints about one object; how many of its functions compute."""
    n_computing = 0
    for name in tree.run(["nm", "-u", path]).stdout.split():
        if FOREIGN.match(name):
            complaints.append(f"{member}: calls {name}, which ends a vector loop")
    for name, code in functions(tree.run(["objdump", "-d", "--no-show-raw-insn", path]).stdout):
        single = SCALAR.findall(code)
        packed = [line for line in code.splitlines() if PACKED.search(line)]
        if len(single) > MOST_SINGLE * len(packed) and name not in ALLOWED:
            complaints.append(f"{member}: {name} has {len(single)} operations on single numbers, "
                              f"such as{single[0].rstrip()}")
        if packed and not any(REGISTER[width] in line for line in packed):
            complaints.append(f"{member}: {name} has vectors, but none of {REGISTER[width]}")
        n_computing += 1 if packed else 0
    return n_computing


with tempfile.TemporaryDirectory() as folder:
    for member in tree.run(["ar", "t", archive]).stdout.split():
        found = SETS.match(member)
        if not found:
            continue
        tree.run(["ar", "x", archive, member, "--output", folder])
        if look(os.path.join(folder, member), member, found.group(2)) == 0:
            complaints.append(f"{member}: no function of it computes in vectors")
        looked_at += 1

tree.verdict(complaints, f"{looked_at} objects")
