"""The layer law: folders are the dependency graph.

core includes core; ooc, io and kernels include core and themselves; app joins them; only tests and
examples stand above app, but that the program, not the library, runs the steps of examples/ladder.
Foreign headers are seen by few files each, so that a package can be left out of a build by leaving
out files, and never by an #ifdef.
"""
import os
import re

import _tree as tree

MAY_INCLUDE = {
    "core": ("core",),
    "ooc": ("core", "ooc"),
    "io": ("core", "io"),
    "kernels": ("core", "kernels"),
    "app": ("core", "ooc", "io", "kernels", "app"),
}

# Foreign header: the files that may see it.
FOREIGN = [
    (r"(hdf5|H5[A-Z]\w*)(\.h|/)", r"io/(h5_\w+|uvh5\w*)\.[ch]$"),
    (r"(cuda|cublas|cufft|cub/|thrust/|nvrtc|cooperative_groups|device_launch)",
     r"(core/device_cuda\.[ch]|core/\w*_cuda\w*\.(h|cu)|kernels/(\w+\.cuh?|\w*_cuda\w*\.[ch]))$"),
    (r"(fitsio|longnam)\.h", r"io/(model_)?fits_cfitsio\.c$"),
    (r"png\.h", r"io/png_libpng\.c$"),
    (r"zip\.h", r"io/npz_libzip\.c$"),
    (r"zstd\w*\.h", r"io/\w+\.[ch]$"),
    (r"lz4\w*\.h", r"io/\w+_liblz4\.c$"),
    (r"libdeflate\.h", r"io/\w+_libdeflate\.c$"),
    (r"blosc\w*\.h", r"io/\w+_libblosc\.c$"),
    (r"(szlib|libaec)\.h", r"io/\w+_libaec\.c$"),
    (r"(cblas|openblas\w*)\.h", r"kernels/\w+\.[ch]$"),
]

complaints = []
looked_at = tree.files(".c", ".h", ".cu", ".cuh", folders=tree.LIBRARY_FOLDERS)
public = set(tree.public_headers())

for path in looked_at:
    folder = path.split("/")[0]
    for number, name, quoted in tree.includes(path):
        where = f"{path}:{number}"
        if quoted:
            owner = name.split("/")[0]
            if name == "examples/ladder/ladder.h" and tree.is_program_only(path):
                continue
            if "/" not in name:
                complaints.append(f'{where}: "{name}" is not qualified by its folder')
            elif owner not in MAY_INCLUDE[folder]:
                complaints.append(f'{where}: {folder}/ may not include "{name}"')
            if path in public and name not in public:
                complaints.append(f'{where}: a public header includes "{name}", which sluice.h '
                                  "does not list and make install does not bring")
            continue
        for header, allowed in FOREIGN:
            if re.match(header, name) and not re.match(allowed, path):
                complaints.append(f"{where}: <{name}> is only for {allowed}")
            if re.match(header, name) and path in public and path != "core/device_cuda.h":
                complaints.append(f"{where}: a public header shows <{name}>")
    code = tree.code_only(tree.read(path))
    if path not in ("core/device.c", "kernels/registry.c") and "SLC_HAVE_CUDA" in code:
        complaints.append(f"{path}: asks whether CUDA was built in; only core/device.c and "
                          "kernels/registry.c may")

for path in tree.files(".c", ".h", ".cu", folders=("tests", "examples")):
    for number, name, quoted in tree.includes(path):
        beside = os.path.join(tree.ROOT, os.path.dirname(path), name)
        if path.startswith("examples/") and quoted and not os.path.exists(beside):
            complaints.append(f'{path}:{number}: an example sees what a user sees: <sluice.h>, not '
                              f'"{name}"')

tree.verdict(complaints, f"{len(looked_at)} files")
