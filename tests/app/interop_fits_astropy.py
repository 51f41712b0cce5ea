"""FITS as astropy reads it: where the sky is in the picture, and what the header says.

Sources are placed by (l, m), simulated, imaged and written; astropy then has to put right ascension
and declination of each within 0.01 pixel of the pixel that (l, m) gives, and the picture must show
its flux there. Leaves with 77 where there is no astropy or no program.
"""
import math
import os
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy
    from astropy.io import fits
    from astropy.wcs import WCS
except ImportError as reason:
    # The distribution's astropy belongs to the distribution's Python.
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3"] + sys.argv)
    print(f"no astropy for this Python ({reason}): not run")
    sys.exit(77)

PROGRAM = os.environ.get("SLUICE_PROGRAM", "")
RA, DEC = math.radians(187.7059), math.radians(-12.3911)
NX, NY = 200, 151
SCALE_ASEC = 12.0
SCALE = math.radians(SCALE_ASEC / 3600)

# 0-based pixel (i, j) and flux in Jy; away from the diagonals, one near each corner.
SOURCES = [((100, 75), 1.0), ((20, 130), 0.8), ((181, 118), 0.9), ((37, 12), 0.7), ((150, 31), 0.6)]


def direction(pixel):
    """(l, m) of a pixel's centre: l grows to the left, the centre is pixel size // 2."""
    i, j = pixel
    return -(i - NX // 2) * SCALE, (j - NY // 2) * SCALE


def on_the_sky(l, m):
    """Right ascension and declination of a direction, in degrees."""
    n = math.sqrt(1 - l * l - m * m)
    dec = math.asin(m * math.cos(DEC) + n * math.sin(DEC))
    ra = RA + math.atan2(l, n * math.cos(DEC) - m * math.sin(DEC))
    return math.degrees(ra) % 360, math.degrees(dec)


def sluice(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    if done.returncode == 2 and "built without cfitsio" in done.stderr:
        print(done.stderr.strip() + ": not run")
        sys.exit(77)
    if done.returncode != 0:
        sys.exit(f"sluice {' '.join(arguments)}: {done.returncode}\n{done.stderr}")


def make_picture(folder):
    with open(os.path.join(folder, "sky.txt"), "w") as sky:
        for pixel, flux in SOURCES:
            l, m = direction(pixel)
            sky.write(f"l={l:.17g} m={m:.17g} flux={flux}\n")
    data, picture = os.path.join(folder, "a b[1].uvh5"), os.path.join(folder, "a b[1].fits")
    sluice("simulate", "-o", data, "--array", "vla-d", "--rows", "20000", "--ra",
           f"{math.degrees(RA):.15g}deg", "--dec", f"{math.degrees(DEC):.15g}deg", "--sky",
           os.path.join(folder, "sky.txt"))
    sluice("image", data, "-o", picture, "--size", f"{NX}x{NY}", "--scale", f"{SCALE_ASEC}asec",
           "--device", "host", "--weight", "uniform")
    return picture


def check_picture(path):
    failures = []
    with fits.open(path) as hdus:
        hdus.verify("exception")
        header, image = hdus[0].header, hdus[0].data
        assert image.dtype.kind == "f" and image.dtype.itemsize == 4, image.dtype
        assert image.shape == (1, 1, NY, NX), image.shape
        assert header["CRPIX1"] == NX // 2 + 1 and header["CRPIX2"] == NY // 2 + 1
        assert header["CDELT1"] < 0 < header["CDELT2"] and "DATE" not in header
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wcs = WCS(header)
        for pixel, flux in SOURCES:
            ra, dec = on_the_sky(*direction(pixel))
            found = wcs.all_world2pix(ra, dec, header["CRVAL3"], header["CRVAL4"], 0)
            off = math.hypot(found[0] - pixel[0], found[1] - pixel[1])
            patch = image[0, 0, pixel[1] - 4:pixel[1] + 5, pixel[0] - 4:pixel[0] + 5]
            top = numpy.unravel_index(numpy.argmax(patch), patch.shape)
            print(f"{pixel}: {off:.2e} pixel off, {patch[4, 4]:.3f} Jy/beam for {flux} Jy")
            if off > 0.01:
                failures.append(f"astropy puts {pixel} at {found[:2]}")
            # Side lobes of the others shift a peak by less than a pixel and change it a little.
            if abs(top[0] - 4) > 1 or abs(top[1] - 4) > 1 or abs(patch[4, 4] - flux) > 0.25:
                failures.append(f"no source of {flux} Jy at {pixel}")
    return failures


def main():
    if not os.access(PROGRAM, os.X_OK):
        print("SLUICE_PROGRAM is not the built program: not run")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        failures = check_picture(make_picture(folder))
    for failure in failures:
        print("FAILED:", failure)
    sys.exit(1 if failures else 0)


main()
