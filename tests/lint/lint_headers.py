"""Every header compiles alone and twice, with warnings as errors; public ones as C11 and as C++17.

Internal headers are C only. Where the toolkit is missing, headers that show CUDA are left out; so
is a *_body.h, which is the text of functions, included once per instruction set with macros set.
"""
import os
import shutil
import subprocess
import tempfile

import _tree as tree

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-fsyntax-only"]


def pkg_config_flags():
    """Include paths of packages that internal headers may show."""
    flags = []
    if shutil.which("pkg-config"):
        for module in ("hdf5-serial", "hdf5", "libzstd", "openblas"):
            answer = subprocess.run(["pkg-config", "--cflags", module], stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, text=True, check=False)
            if answer.returncode == 0:
                flags += answer.stdout.replace("-I", "-isystem").split()
    return flags


def shows_cuda(header):
    return any(name.startswith("cuda") for _, name, quoted in tree.includes(header) if not quoted)


compilers = {"c": os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc"),
             "c++": os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")}
if not compilers["c"]:
    tree.skip("no C compiler on PATH")

cuda = next((path for path in ("/usr/local/cuda/include", "/usr/include")
             if os.path.exists(os.path.join(path, "cuda_runtime_api.h"))), None)
public = tree.public_headers()
headers = tree.files(".h", folders=tree.LIBRARY_FOLDERS) + ["sluice.h"]
foreign = pkg_config_flags()
complaints = []
left_out = []
compiled = 0

with tempfile.TemporaryDirectory() as folder:
    for header in headers:
        if shows_cuda(header) and not cuda:
            left_out.append(header)
            continue
        languages = ["c", "c++"] if header in public or header == "sluice.h" else ["c"]
        if header.endswith("_body.h") or "__global__" in tree.read(header):
            continue
        for language in languages:
            if not compilers[language]:
                left_out.append(f"{header} as {language}")
                continue
            source = os.path.join(folder, "alone.c" if language == "c" else "alone.cc")
            with open(source, "w", encoding="utf-8") as file:
                file.write(f'#include "{header}"\n#include "{header}"\nint alone;\n')
            standard = "-std=c11" if language == "c" else "-std=c++17"
            defines = ["-D_GNU_SOURCE"] if header not in public or language == "c" else []
            command = [compilers[language], standard, *defines, *WARNINGS, "-I" + tree.ROOT]
            if header not in public and header != "sluice.h":
                command += foreign
            if shows_cuda(header):
                command += ["-isystem", cuda]
            answer = tree.run(command + [source])
            compiled += 1
            if answer.returncode != 0:
                complaints.append(f"{header} alone, {standard}:\n{answer.stdout}")

for header in left_out:
    print(f"left out: {header} (no CUDA toolkit or no compiler for it)")
for header in public:
    if not os.path.exists(os.path.join(tree.ROOT, header)):
        complaints.append(f"sluice.h includes {header}, which is not there")
tree.verdict(complaints, f"{compiled} compilations of {len(headers)} headers")
