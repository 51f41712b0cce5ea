"""Reads FILE with pyuvdata, all checks on and strict, and compares it with an independent
calculation: uvw from the antennas' positions and astropy's sidereal time, visibilities from the
components of SKY in double. Warnings about uvw, sidereal times or positions count as failures.

    python _interop_pyuvdata.py FILE SKY ROWS [FILE SKY ROWS ...]
"""
import sys
import warnings

import hdf5plugin  # noqa: F401  (its import registers the filters)
import numpy as np
from astropy.time import Time
from pyuvdata import UVData

LIGHT_M_PER_S = 299792458.0
ARCSECOND = np.pi / 648000


def read_sky(path):
    components = []
    with open(path) as lines:
        for line in lines:
            one = {"major": 0.0, "minor": 0.0, "pa": 0.0, "index": 0.0}
            for word in line.split():
                key, value = word.split("=")
                one[key] = float(value.replace("asec", ""))
            components.append(one)
    return components


def expected_vis(components, uvw_m, freqs_hz):
    """[row, channel]"""
    uvw = uvw_m[:, None, :] * freqs_hz[None, :, None] / LIGHT_M_PER_S
    u, v, w = np.moveaxis(uvw, -1, 0)
    total = np.zeros(u.shape, complex)
    for c in components:
        l, m = c["l"], c["m"]
        n = np.sqrt(1 - l * l - m * m)
        pa = np.radians(c["pa"])
        along = (u * np.sin(pa) + v * np.cos(pa)) * c["major"] * ARCSECOND
        across = (u * np.cos(pa) - v * np.sin(pa)) * c["minor"] * ARCSECOND
        size = np.exp(-np.pi ** 2 / (4 * np.log(2)) * (along ** 2 + across ** 2))
        flux = c["flux"] * (freqs_hz / freqs_hz[0]) ** c["index"]
        total += flux * size * np.exp(2j * np.pi * (u * l + v * m + w * (n - 1)))
    return total


def expected_uvw(uv, hour_angle):
    """From the baselines in earth-fixed axes, turned to the meridian of the source."""
    positions = uv.telescope.antenna_positions
    index = {number: k for k, number in enumerate(uv.telescope.antenna_numbers)}
    first = np.array([index[a] for a in uv.ant_1_array])
    second = np.array([index[a] for a in uv.ant_2_array])
    x, y, z = (positions[second] - positions[first]).T
    angle = hour_angle - uv.telescope.location.lon.rad
    dec = next(iter(uv.phase_center_catalog.values()))["cat_lat"]
    toward = x * np.cos(angle) - y * np.sin(angle)
    u = x * np.sin(angle) + y * np.cos(angle)
    return np.stack([u, z * np.cos(dec) - toward * np.sin(dec),
                     z * np.sin(dec) + toward * np.cos(dec)], axis=-1)


def check(path, sky, n_rows):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        uv = UVData()
        uv.read(path, file_type="uvh5", run_check=True, check_extra=True,
                run_check_acceptability=True, strict_uvw_antpos_check=True)
        sidereal = Time(np.unique(uv.time_array), format="jd", scale="utc",
                        location=uv.telescope.location).sidereal_time("apparent").rad
    telling = [str(w.message) for w in said
               if any(word in str(w.message).lower() for word in ("uvw", "lst", "position"))]
    assert not telling, telling

    n_times = len(sidereal)
    n_pairs = uv.telescope.Nants * (uv.telescope.Nants - 1) // 2
    assert uv.Nblts == n_rows and uv.Ntimes == n_times == -(-n_rows // n_pairs), uv.Ntimes
    assert uv.Nbls == min(n_rows, n_pairs) and np.all(uv.ant_1_array < uv.ant_2_array)
    assert uv.vis_units == "Jy" and not uv.flag_array.any() and np.all(uv.nsample_array == 1)

    times = np.unique(uv.time_array)
    center = next(iter(uv.phase_center_catalog.values()))
    assert center["cat_type"] == "sidereal" and center["cat_frame"] == "icrs"
    middle = sidereal[0] + (times.mean() - times[0]) * 2 * np.pi * 1.00273790935
    transit = np.remainder(middle - center["cat_lon"] + np.pi, 2 * np.pi) - np.pi
    assert abs(transit) < 2 * np.pi * 5e-3 / 86400, f"transit is missed by {transit} rad"
    if n_times > 1:
        steps = np.diff(times) * 86400
        assert np.allclose(steps, uv.integration_time[0], rtol=0, atol=1e-3)

    hour_angle = sidereal[np.searchsorted(times, uv.time_array)] - center["cat_lon"]
    off = np.abs(uv.uvw_array - expected_uvw(uv, hour_angle)).max()
    assert off < 0.01, f"uvw differ by {off} m"

    components = read_sky(sky)
    expected = expected_vis(components, uv.uvw_array, uv.freq_array)
    total = sum(c["flux"] for c in components)
    error = np.abs(uv.data_array - expected[..., None]).max() / total
    assert error < 1e-6, f"visibilities differ by {error} of the flux"
    print(f"{path}: uvw within {off:.1e} m, visibilities within {error:.1e} of the flux")


words = sys.argv[1:]
for file, components, rows in zip(words[::3], words[1::3], words[2::3]):
    check(file, components, int(rows))
