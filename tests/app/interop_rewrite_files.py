"""Repacks every array of the shared HDF5 files into other chunks and another filter, and compares
what h5py reads of both.

Arrays that stock HDF5 cannot read, for want of a filter, are left out and counted. Leaves with 77
where there is no h5py, no program or no shared data.
"""
import os
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy
except ImportError as reason:
    # The distribution's h5py belongs to the distribution's Python.
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3"] + sys.argv)
    print(f"no h5py for this Python ({reason}): not run")
    sys.exit(77)

PROGRAM = os.environ.get("SLUICE_PROGRAM", "")
SOURCE = os.environ.get("SLUICE_SOURCE_DIR", ".")
DATA = os.path.join(os.environ.get("SLUICE_SHARED", os.path.join(SOURCE, "..", "shared")), "data",
                    "hdf5")
if not PROGRAM or not os.path.isdir(DATA):
    print("SLUICE_PROGRAM is not set, or there is no shared data: not run")
    sys.exit(77)
# What stock HDF5 can decode. Its bitshuffle knows no zstd, and crashes.
STOCK = {1, 2, 3, 4, 5, 6}
FILTERS = ("none", "deflate:1", "deflate:6")
MOST_ELEMENTS = 1 << 21
n_done = n_failed = 0
n_left_out = 0


def is_stock(dataset):
    properties = dataset.id.get_create_plist()
    return all(properties.get_filter(k)[0] in STOCK for k in range(properties.get_nfilters()))


def other_chunk(shape):
    """Along each dimension about a third of it, never what is usual."""
    return [max(1, min(n, n // 3 + 1, 500)) for n in shape]


def repack(path, name, dataset, folder):
    global n_done, n_failed
    result = os.path.join(folder, "out.h5")
    words = [PROGRAM, "repack", f"{path}:{name}", "-o", f"{result}:/v", "--overwrite", "--device",
             "host", "--no-probe", "-q", "--vram", "1M", "--ram", "256M", "--filter",
             FILTERS[n_done % len(FILTERS)]]
    if dataset.shape:
        words += ["--chunk", ",".join(str(n) for n in other_chunk(dataset.shape))]
    done = subprocess.run(words, capture_output=True, text=True)
    n_done += 1
    if done.returncode != 0:
        print(f"FAILED: {path}:{name}: {done.stderr.strip()}")
        n_failed += 1
        return
    with h5py.File(result, "r") as file:
        wanted = numpy.asarray(dataset[()])
        found = numpy.asarray(file["v"][()])
    if wanted.dtype == bool:
        found = found.astype(bool)
    if found.shape != wanted.shape or not numpy.array_equal(
            found, wanted, equal_nan=wanted.dtype.kind in "fc"):
        print(f"FAILED: {path}:{name}: {found.dtype}{list(found.shape)}, other values or shape")
        n_failed += 1


def visit(path, folder):
    global n_left_out
    with h5py.File(path, "r") as file:
        names = []
        file.visititems(lambda name, item: names.append(name)
                        if isinstance(item, h5py.Dataset) else None)
        for name in names:
            dataset = file[name]
            is_number = dataset.dtype.kind in "iufcb" and dataset.shape is not None
            if not is_number or dataset.size > MOST_ELEMENTS or len(dataset.shape) > 8:
                continue
            if is_stock(dataset):
                repack(path, "/" + name, dataset, folder)
            else:
                n_left_out += 1


with tempfile.TemporaryDirectory() as folder:
    for entry in sorted(os.listdir(DATA)):
        try:
            visit(os.path.join(DATA, entry), folder)
        except OSError as reason:
            print(f"{entry}: {reason}")

print(f"{n_done} arrays repacked, {n_failed} failed; stock HDF5 cannot read {n_left_out}")
sys.exit(1 if n_failed or n_done == 0 else 0)
