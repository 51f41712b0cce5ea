"""Transposes and repacks files that h5py writes, against numpy, read by h5py.

Types in both byte orders, complex numbers and booleans, chunks and filters, slices, other types.
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
random = numpy.random.default_rng(2)
n_failed = 0
n_done = 0


def rewrite(folder, command, data, options, wanted, cut="", **how):
    """Writes the data, runs the program and compares shape, type and values."""
    global n_failed, n_done
    n_done += 1
    source = os.path.join(folder, f"in{n_done}.h5")
    result = os.path.join(folder, f"out{n_done}.h5")
    with h5py.File(source, "w") as file:
        file.create_dataset("g/x", data=data, **how)
    words = [PROGRAM, command, source + ":/g/x" + cut, "-o", result + ":/h/y", "--device", "host",
             "--ram", "64M", "--no-probe", "-q", *options]
    if "--vram" not in options:
        words += ["--vram", "1M"]
    done = subprocess.run(words, capture_output=True, text=True)
    text = f"{command} {data.dtype}{list(data.shape)}{cut} {options} {how}"
    if done.returncode != 0:
        print(f"FAILED: {text}: {done.stderr.strip()}")
        n_failed += 1
        return
    with h5py.File(result, "r") as file:
        found = numpy.asarray(file["h/y"][()])
    same = found.shape == wanted.shape and numpy.array_equal(
        found, wanted, equal_nan=wanted.dtype.kind in "fc")
    if not same or found.dtype.newbyteorder("=") != wanted.dtype.newbyteorder("="):
        print(f"FAILED: {text}: {found.dtype}{list(found.shape)}, other values, shape or type")
        n_failed += 1


def numbers(shape, dtype):
    if numpy.dtype(dtype).kind == "c":
        return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)
    if numpy.dtype(dtype).kind == "f":
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 120, shape).astype(dtype)


with tempfile.TemporaryDirectory() as folder:
    for dtype in "<i4", ">i4", "<f8", ">f8", "<f2", ">f4", "<c8", ">c16", "u1", "<u8":
        data = numbers((23, 17, 31), dtype)
        rewrite(folder, "transpose", data, ["--axes", "2,0,1"], data.transpose(2, 0, 1))
        rewrite(folder, "transpose", data, ["--axes", "1,-1,0", "--chunk", "5,31,4"],
                data.transpose(1, 2, 0), chunks=(4, 17, 9), compression="gzip", shuffle=True)
    flags = random.integers(0, 2, (40, 50)).astype(bool)
    rewrite(folder, "transpose", flags, [], flags.T.astype("i1"), chunks=(7, 50))
    data = numbers((100, 90), "f4")
    for how in ({}, {"chunks": (9, 90), "compression": "gzip", "fletcher32": True},
                {"chunks": (30, 31), "compression": "lzf"}):
        for cut in "[::-1]", "[3:90:7, ::-2]", "[..., 5]", "[-1]", "[10:20, 30:]", "[50:50]":
            rewrite(folder, "repack", data, ["--vram", "64K"], eval("data" + cut), cut, **how)
    for before, after in (("f8", "f4"), ("f4", "f8"), ("i4", "f4"), ("f8", "i2"), ("u1", "i8"),
                          ("f4", "f2"), ("f2", "f4"), ("f4", "c8"), ("c16", "c8"), ("i8", "u4")):
        data = numbers((50, 60), before)
        data = (50 * abs(data)).astype(before) if before[0] == "f" else data
        rewrite(folder, "repack", data, ["--dtype", after], data.astype(after), chunks=(11, 13),
                compression="gzip")
    # B47: x[r, c] = 1000 r + c.
    rows, columns = numpy.mgrid[0:997, 0:1003].astype("i4")
    data = 1000 * rows + columns
    rewrite(folder, "transpose", data, ["--vram", "256K", "--ram", "8M"], data.T,
            chunks=(10, 1003))

print(f"{n_done} runs, {n_failed} failed")
sys.exit(1 if n_failed else 0)
