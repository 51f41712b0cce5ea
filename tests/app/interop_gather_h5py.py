"""Gathers of files that h5py writes, against numpy.take and numpy's own indexing, read by h5py.

Ranks, axes, types in both byte orders, complex numbers, lists of any shape, chunks and filters.
Leaves with 77 where there is no h5py or no program.
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
if not PROGRAM:
    print("SLUICE_PROGRAM is not set: not run")
    sys.exit(77)
random = numpy.random.default_rng(1)
n_failed = 0
n_done = 0


def make(path, name, values, **how):
    with h5py.File(path, "a") as file:
        file.create_dataset(name, data=values, **how)


def gather(folder, data, index, options, wanted, **how):
    """Writes both, runs the program every way and compares shape, type and values."""
    global n_failed, n_done
    source = os.path.join(folder, f"in{n_done}.h5")
    make(source, "g/data", data, **how)
    make(source, "g/i", index)
    for sparse in "resident", "mapped", "streamed":
        n_done += 1
        result = os.path.join(folder, f"out{n_done}.h5")
        command = [PROGRAM, "gather", source + ":/g/data", "--index", source + ":/g/i", "-o",
                   result + ":/h/v", "--sparse", sparse, "--device", "host", "--vram", "16M",
                   "--ram", "64M", "--no-probe", "-q", *options]
        done = subprocess.run(command, capture_output=True, text=True)
        text = (f"{data.dtype}{list(data.shape)} by {index.dtype}{list(index.shape)} {options} "
                f"{sparse}")
        if done.returncode != 0:
            print(f"FAILED: {text}: {done.stderr.strip()}")
            n_failed += 1
            continue
        with h5py.File(result, "r") as file:
            found = file["h/v"][()]
        found = numpy.asarray(found)
        same_kind = found.dtype == data.dtype
        if found.shape != wanted.shape or not same_kind or found.tobytes() != \
                numpy.ascontiguousarray(wanted.astype(found.dtype)).tobytes():
            print(f"FAILED: {text}: {found.dtype}{list(found.shape)}, other values or shape")
            n_failed += 1


def values(shape, dtype):
    dtype = numpy.dtype(dtype)
    if dtype.kind == "c":
        return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(dtype)
    if dtype.kind == "f":
        return random.normal(size=shape).astype(dtype)
    limits = numpy.iinfo(dtype)
    return random.integers(limits.min, limits.max, size=shape, endpoint=True,
                           dtype=dtype.newbyteorder("=")).astype(dtype)


with tempfile.TemporaryDirectory() as folder:
    for dtype in ("u1 i1 <u2 >i2 <u4 >i4 >u8 <i8 <f2 >f2 <f4 >f4 <f8 >f8 <c8 >c8 <c16 "
                  ">c16").split():
        data = values((40, 6), dtype)
        index = random.integers(0, 40, size=25)
        gather(folder, data, index, [], data[index])
    for dtype in "u1 i1 <u2 >i2 <u4 >i4 <u8 >u8 <i8 >i8".split():
        data = values((100,), "<f4")
        index = random.integers(0, 100, size=(3, 7)).astype(dtype)
        gather(folder, data, index, ["--axis", "0"], data[index.astype("i8")])
    for shape in ((50,), (4, 7, 5), (3, 1, 2, 3, 4)):
        data = values(shape, "<f8")
        for axis in range(-len(shape), len(shape)):
            index = random.integers(0, shape[axis], size=(4, 3))
            gather(folder, data, index, ["--axis", str(axis)], numpy.take(data, index, axis))
        for lists in ((30,), (2, 5), ()):
            index = numpy.stack([random.integers(0, n, size=lists) for n in shape], axis=-1)
            wanted = data[tuple(numpy.moveaxis(index, -1, 0))]
            gather(folder, data, index, ["--coordinates"], numpy.asarray(wanted))
    data = values((1000, 30), "<f4")
    index = random.integers(0, 1000, size=2000)
    for how in ({"chunks": (100, 7)}, {"chunks": (1000, 1), "compression": "gzip"},
                {"chunks": True, "compression": "lzf", "shuffle": True},
                {"chunks": (33, 30), "compression": "gzip", "fletcher32": True,
                 "maxshape": (None, 30)}):
        gather(folder, data, index, [], data[index], **how)
    flags = values((300,), "i1") > 0
    gather(folder, flags.view("i1"), numpy.arange(299, -1, -1), [], flags.view("i1")[::-1])

print(f"{n_done} gathers, {n_failed} failed")
sys.exit(1 if n_failed else 0)
