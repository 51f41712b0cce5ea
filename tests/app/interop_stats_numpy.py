"""Statistics of files that h5py writes, against Python's own whole numbers and fractions and numpy.

Types in both byte orders, shapes, chunks, NaN, infinities, zeros of both signs, the smallest and
largest numbers. Sum, mean and deviation must be the nearest doubles to the exact ones, quantiles
numpy's. Leaves with 77 where there is no h5py or no program.
"""
import json
import math
import os
import subprocess
import sys
import tempfile
from fractions import Fraction

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
N = 2100
QUANTILES = (0, 0.01, 0.3, 0.77, 1)
EDGES = numpy.linspace(-1, 1, 8)
n_failed = 0
n_done = 0


def root(square):
    """The nearest double to the root of a fraction."""
    return float(Fraction(math.isqrt((square.numerator << 4600) // square.denominator), 1 << 2300))


def exact(values):
    """sum, mean, std and median of values without NaN and infinities."""
    n = len(values)
    whole = [Fraction(x) for x in values.tolist()]
    total = sum(whole)
    squares = sum(x * x for x in whole)
    whole.sort()
    median = (whole[(n - 1) // 2] + whole[n // 2]) / 2
    if values.dtype.kind == "f":
        total_found = float(total)
        median_found = float(median)
    else:
        total_found = int(total)
        median_found = int(median) if median.denominator == 1 else float(median)
    return {"sum": total_found, "mean": float(total / n),
            "std": root((n * squares - total * total) / Fraction(n * n)), "median": median_found}


def expected(data):
    flat = data.ravel()
    is_float = data.dtype.kind == "f"
    values = flat[~numpy.isnan(flat)] if is_float else flat
    finite = values[numpy.isfinite(values)] if is_float else values
    wanted = {"count": flat.size, "nan": flat.size - values.size, "inf": values.size - finite.size}
    if values.size > 0:
        wanted["argmin"] = int(numpy.nanargmin(flat) if is_float else numpy.argmin(flat))
        wanted["argmax"] = int(numpy.nanargmax(flat) if is_float else numpy.argmax(flat))
        for end in "min", "max":
            value = flat[wanted["arg" + end]].item()
            wanted[end] = value if math.isfinite(value) else None
    if values.size == finite.size and values.size > 0:
        wanted.update(exact(values))
    return wanted, finite, values.size == finite.size


def stats(folder, text, data, vram, **how):
    """Writes the array, runs the program and compares."""
    global n_failed, n_done
    n_done += 1
    source = os.path.join(folder, "in.h5")
    with h5py.File(source, "w") as file:
        file.create_dataset("g/x", data=data, **how)
    command = [PROGRAM, "stats", source + ":/g/x", "--json", "--device", "host", "--vram", vram,
               "--no-probe", "-q", "--quantiles", ",".join(str(q) for q in QUANTILES),
               "--histogram", f"{len(EDGES) - 1}:-1:1"]
    done = subprocess.run(command, capture_output=True, text=True)
    complaints = [] if done.returncode == 0 else [done.stderr.strip()]
    found = json.loads(done.stdout) if done.returncode == 0 else {}
    wanted, finite, is_all = expected(data)
    for key, value in wanted.items() if found else ():
        if found[key] != value and not (isinstance(value, float) and math.isinf(value)):
            complaints.append(f"{key} is {found[key]}, expected {value}")
    exact_in_double = finite.size > 0 and numpy.abs(finite.astype(float)).max() < 2.0 ** 52
    if found and is_all and exact_in_double:
        for q in QUANTILES:
            value = numpy.quantile(finite.astype(float), q)
            other = found["quantiles"][f"{q:g}"]
            if other != value:
                complaints.append(f"quantile {q} is {other}, expected {value}")
    if found and numpy.histogram(finite.astype(float), EDGES)[0].tolist() != \
            found["histogram"]["counts"]:
        complaints.append(f"other counts: {found['histogram']['counts']}")
    if complaints:
        print(f"FAILED: {text} {data.dtype.str}{list(data.shape)} {how}: " + "; ".join(complaints))
        n_failed += 1


def every_way(folder, text, data):
    stats(folder, text, data, "64M")
    stats(folder, text, data.reshape(60, 35), "100K", chunks=(7, 11), compression=1)
    stats(folder, text, data.reshape(3, 5, 2, 70), "64M", chunks=(1, 5, 2, 33), shuffle=True)


def integers(folder):
    for name in "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8":
        ends = numpy.iinfo(name)
        every_way(folder, "all", random.integers(ends.min, ends.max, N, dtype=name, endpoint=True))
        big = random.integers(0, 9, N).astype(">" + name)
        every_way(folder, "few", big)


def floats(folder):
    for name in "f2", "f4", "f8":
        kinds = {"normal": random.normal(size=N), "large mean": 1000 + random.normal(size=N),
                 "zeros": random.integers(-1, 2, N) * -0.0,
                 "wide": random.normal(size=N) * 10.0 ** random.integers(-3, 3, N)}
        if name == "f8":
            kinds["larger mean"] = 1e9 + random.normal(size=N)
            kinds["widest"] = random.normal(size=N) * 10.0 ** random.integers(-300, 300, N)
            kinds["smallest"] = random.integers(0, 1000, N) * 5e-324
            kinds["largest"] = random.normal(size=N) * 1e300
            kinds["any"] = numpy.frombuffer(random.bytes(8 * N), "f8")
        if name == "f4":
            kinds["smallest"] = random.integers(0, 1000, N) * 1e-45
            kinds["any"] = numpy.frombuffer(random.bytes(4 * N), "f4")
        for text, values in kinds.items():
            with numpy.errstate(all="ignore"):
                data = values.astype(random.choice(["<", ">"]) + name)
            data = numpy.where(numpy.isinf(data), 0, data).astype(data.dtype)
            every_way(folder, text, data)
            data[5::97] = numpy.nan
            every_way(folder, text + ", NaN", data)
            data[33] = data[70] = numpy.inf
            stats(folder, text + ", infinite", data, "64M")
            data[11] = -numpy.inf
            stats(folder, text + ", infinite both ways", data, "64M")


with tempfile.TemporaryDirectory() as directory:
    integers(directory)
    floats(directory)
print(f"{n_done} arrays, {n_failed} failed")
sys.exit(1 if n_failed else 0)
