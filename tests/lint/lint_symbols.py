"""What libsluice.so exports is what the public headers declare: slc_ names and nothing else.

Hidden symbols of libsluice.a begin with slc_ or slci_, so that a static link meets no foreign name.
"""
import os
import re
import shutil

import _tree as tree

shared = os.path.join(tree.BUILD, "libsluice.so")
static = os.path.join(tree.BUILD, "libsluice.a")
if not shutil.which("nm"):
    tree.skip("no nm on PATH")
if not os.path.exists(shared) or not os.path.exists(static):
    tree.skip(f"no {shared} (set SLUICE_BUILD_DIR)")


def defined(*arguments):
    answer = tree.run(["nm", "--defined-only", *arguments])
    names = set()
    for line in answer.stdout.splitlines():
        match = re.match(r"[0-9a-f]+ ([A-Za-z]) (\S+)$", line)
        if match and match.group(1) not in "NUa":
            names.add(match.group(2))
    return names


exported = defined("-D", shared)
declared = set()
for header in tree.public_headers():
    code = tree.code_only(tree.read(header))
    for declaration in re.findall(r"SLC_API\b([^;{]*);", code):
        name = re.search(r"\b(slc_\w+)\s*\(", declaration)
        if name:
            declared.add(name.group(1))

complaints = []
# Sanitizers and C++ runtimes add their own names to what a build exports.
for name in sorted(exported):
    if name.startswith("slc_"):
        if name not in declared:
            complaints.append(f"{name}: exported, but no public header declares it")
    elif not re.match(r"(__asan|__ubsan|__tsan|__odr_asan|_init$|_fini$|_ZN?S|_ZTS|_ZTI)", name):
        complaints.append(f"{name}: exported without the prefix slc_")

# The opt-in header is for builds with CUDA.
cuda_only = set(re.findall(r"\b(slc_\w+)\s*\(", tree.code_only(tree.read("core/device_cuda.h"))))
for name in sorted(declared - exported - cuda_only):
    complaints.append(f"{name}: declared SLC_API, but libsluice.so does not have it")

for name in sorted(defined("-g", static)):
    if not re.match(r"(slci?_|__asan|__ubsan|__tsan|__odr_asan|_Z|__cuda|__fatbin|DW\.ref)", name):
        complaints.append(f"{name}: a global name of libsluice.a without the prefix slc_ or slci_")

tree.verdict(complaints, f"{len(exported)} exported, {len(declared)} declared")
