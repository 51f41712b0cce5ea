"""Transposes and repacks files that h5py writes, against numpy, read by h5py.

Types in both byte orders, complex numbers and booleans, chunks and filters, slices, other types,
attributes, labels and dimension scales. Filters that h5py has not are read where hdf5plugin is.
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
try:
    import hdf5plugin  # registers zstd and bitshuffle with h5py's HDF5
except ImportError:
    hdf5plugin = None

PROGRAM = os.environ.get("SLUICE_PROGRAM", "")
if not PROGRAM:
    print("SLUICE_PROGRAM is not set: not run")
    sys.exit(77)
random = numpy.random.default_rng(2)
n_failed = 0
n_done = 0


def rewrite(folder, command, data, options, wanted, cut="", stored=None, **how):
    """Writes the data, runs the program and compares shape, type, values and, of the dataset as
    h5py has it, the properties in `stored`."""
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
        for name, value in (stored or {}).items():
            if getattr(file["h/y"], name) != value:
                print(f"FAILED: {text}: {name} is {getattr(file['h/y'], name)}, expected {value}")
                n_failed += 1
    same = found.shape == wanted.shape and numpy.array_equal(
        found, wanted, equal_nan=wanted.dtype.kind in "fc")
    if not same or found.dtype != wanted.dtype:
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
    rewrite(folder, "transpose", flags, [], flags.T, chunks=(7, 50))
    rewrite(folder, "repack", flags, ["--dtype", "u1"], flags.astype("u1"), chunks=(7, 50))
    data = numbers((100, 90), "f4")
    for how in ({}, {"chunks": (9, 90), "compression": "gzip", "fletcher32": True},
                {"chunks": (30, 31), "compression": "lzf"}):
        for cut in "[::-1]", "[3:90:7, ::-2]", "[..., 5]", "[-1]", "[10:20, 30:]", "[50:50]":
            rewrite(folder, "repack", data, ["--vram", "64K"], eval("data" + cut), cut, **how)
    for before, after in (("f8", "f4"), ("f4", "f8"), ("i4", "f4"), ("f8", "i2"), ("u1", "i8"),
                          ("f4", "f2"), ("f2", "f4"), ("f4", "c8"), ("c16", "c8"),
                          ("i8", "u4"),
                          ("f4", ">f4"), (">f8", "<f8"), (">i2", ">c16"), ("u1", ">u1")):
        data = numbers((50, 60), before)
        data = (50 * abs(data)).astype(before) if "f" in before else data
        rewrite(folder, "repack", data, ["--dtype", after], data.astype(after), chunks=(11, 13),
                compression="gzip")
    # B47: x[r, c] = 1000 r + c.
    rows, columns = numpy.mgrid[0:997, 0:1003].astype("i4")
    data = 1000 * rows + columns
    rewrite(folder, "transpose", data, ["--vram", "256K", "--ram", "8M"], data.T,
            chunks=(10, 1003))

    # Parts of complex numbers keep their names and their order.
    pairs = numpy.zeros((19, 8), [("imag", ">f4"), ("real", ">f4")])
    pairs["imag"], pairs["real"] = numbers((2, 19, 8), "f4")
    for how in ([], ["--chunk", "none"], ["--filter", "deflate:1"]):
        rewrite(folder, "transpose", pairs, how, pairs.T, chunks=(4, 5))
    rewrite(folder, "repack", pairs, ["--dtype", "c8"],
            (pairs["real"] + 1j * pairs["imag"]).astype("<c8"))

    # Filters: h5py's own, those that it needs a plugin for, and what stays of the data's.
    data = numpy.round(1000 * numbers((100, 90), "f4")).astype(">i4")
    gzip = {"compression": "gzip", "compression_opts": 6, "shuffle": True, "chunks": (30, 20)}
    rewrite(folder, "repack", data, ["--filter", "deflate:6", "--chunk", "30,20"], data,
            stored=gzip)
    rewrite(folder, "transpose", data, [], data.T, stored={**gzip, "chunks": (20, 30)}, **gzip)
    rewrite(folder, "repack", data, ["--filter", "none"], data,
            stored={"compression": None, "shuffle": False, "chunks": (30, 20)}, **gzip)
    rewrite(folder, "repack", data, ["--chunk", "none"], data, stored={"chunks": None}, **gzip)
    rewrite(folder, "repack", data, [], data, chunks=(9, 90), compression="gzip", fletcher32=True,
            stored={"compression": "gzip", "fletcher32": True, "shuffle": False})
    rewrite(folder, "repack", data, [], data, chunks=(9, 90), compression="lzf",
            stored={"compression": "gzip", "compression_opts": 4, "shuffle": True})
    for dtype in ("u1", "<i4", ">f8", "<c8", "bool") if hdf5plugin else ():
        data = numbers((61, 70), dtype) if dtype != "bool" else flags
        for name in "zstd:3", "bitshuffle-lz4", "bitshuffle-zstd:2":
            rewrite(folder, "transpose", data, ["--filter", name, "--chunk", "17,64"], data.T)

    # What describes the data goes with it, by its dimensions.
    n_done += 1
    source = os.path.join(folder, "scales.h5")
    result = os.path.join(folder, "scales_out.h5")
    time = numpy.arange(40) * 0.5
    freq = (1e9 + numpy.arange(30) * 1e6).astype(">f8")
    with h5py.File(source, "w") as file:
        data = file.create_dataset("g/data", data=numbers((40, 30, 2), "f4"))
        data.attrs["units"] = "Jy"
        data.attrs["range"] = [1.5, 2.5]
        for name, values in (("g/time", time), ("freq", freq)):
            file[name] = values
            file[name].make_scale(name[-4:])
            file[name].attrs["units"] = "some"
        data.dims[0].attach_scale(file["g/time"])
        data.dims[1].attach_scale(file["freq"])
        data.dims[1].label = "frequency"
        values = data[()]
    done = subprocess.run([PROGRAM, "transpose", source + ":/g/data[::-3, 4:]", "-o",
                           result + ":/h/y", "--device", "host", "--no-probe", "-q", "--axes",
                           "1,2,0", "--filter", "deflate:1"], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"FAILED: scales: {done.stderr.strip()}")
        n_failed += 1
    else:
        with h5py.File(result, "r") as file:
            data = file["h/y"]
            checks = {
                "values": numpy.array_equal(data[()], values[::-3, 4:].transpose(1, 2, 0)),
                "attributes": (data.attrs["units"], *data.attrs["range"]) == ("Jy", 1.5, 2.5),
                "labels": [dim.label for dim in data.dims] == ["frequency", "", ""],
                "scales": [len(dim) for dim in data.dims] == [1, 0, 1],
                "frequencies": numpy.array_equal(data.dims[0][0][()], freq[4:]),
                "times": numpy.array_equal(data.dims[2][0][()], time[::-3]),
                "names": "freq" in file and "h/time" in file,
                "attributes of scales": file["freq"].attrs["units"] == "some",
                "type of scales": file["freq"].dtype == ">f8",
            }
        for name, is_right in checks.items():
            if not is_right:
                print(f"FAILED: scales: other {name}")
                n_failed += 1

    # --rest: what else is in the group.
    n_done += 1
    result = os.path.join(folder, "rest_out.h5")
    with h5py.File(source, "a") as file:
        file["g"].attrs["made"] = "by hand"
        file.create_dataset("g/other", data=values[0], chunks=(7, 2), compression="lzf")
        file["g/deeper/one"] = 1
        file["g/nowhere"] = h5py.SoftLink("/not/there")
    done = subprocess.run([PROGRAM, "repack", source + ":/g/data", "-o", result + ":/data",
                           "--rest", "--device", "host", "--no-probe", "--no-progress"],
                          capture_output=True, text=True)
    with h5py.File(result, "r") as file:
        checks = {
            "values": numpy.array_equal(file["data"][()], values),
            "objects": sorted(file) == ["data", "deeper", "freq", "nowhere", "other", "time"],
            "others' values": (numpy.array_equal(file["other"][()], values[0]) and
                               file["other"].compression == "lzf" and
                               file["deeper/one"][()] == 1),
            "attributes": file.attrs["made"] == "by hand",
            "scales": [len(dim) for dim in file["data"].dims] == [1, 1, 0],
            "link": file.get("nowhere", getlink=True).path == "/not/there",
        }
    for name, is_right in checks.items():
        if not is_right:
            print(f"FAILED: --rest: other {name}")
            n_failed += 1

print(f"{n_done} runs, {n_failed} failed")
sys.exit(1 if n_failed else 0)
