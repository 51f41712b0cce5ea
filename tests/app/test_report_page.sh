#!/bin/bash
# The page of --report in a real browser: what the browser makes of its markup, and what it paints,
# in light and in dark. Needs chromium; without it there is nothing to look with.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"
need_shared cases/base.uvh5
base=$shared/cases/base.uvh5

# On Ubuntu `chromium` and `chromium-browser` are wrappers of a snap, which sees no file of ours.
browser=""
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    path=$(command -v "$name" || true)
    if [[ -n $path && $(realpath "$path") != */snap* ]] && ! grep -qs snap "$path" &&
        "$path" --version >/dev/null 2>&1; then
        browser=$path
        break
    fi
done
if [[ -z $browser ]]; then
    echo "no chromium that is not a snap (apt-get install chromium): the page is not looked at"
    exit 77
fi

# look OPTION…: the page in the browser, 900 pixels wide.
look() {
    timeout 90 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
        --no-first-run --disable-extensions --user-data-dir="$work/.browser" \
        --window-size=900,1700 --virtual-time-budget=2000 "$@" "file://$work/r.html" \
        2>"$work/.browser.log"
}

accepts '' image "$base" -o a.png --size 128 --scale 0.002rad --device host -q --trace t.json \
    --report r.html --stats s.json
if ! look --dump-dom >dom.html || [[ ! -s dom.html ]]; then
    echo "$browser does not run here: $(tail -n 1 .browser.log)"
    exit 77
fi

check "the browser's tree" python3 - <<'PYTHON'
import json, re

dom, stats = open("dom.html", encoding="utf-8").read(), json.load(open("s.json"))
trace = json.load(open("t.json"))["otherData"]
body = dom[dom.index("<body>"):]
text = re.sub(r"<[^>]*>", "\n", body)
assert "<title>sluice image: base.uvh5</title>" in dom
assert body.count("<rect") == trace["slices"] > 10, (body.count("<rect"), trace)
assert body.count("<svg") == 2 and body.count("<img") == 1
for words in ("Time line", "Memory reserved", "Plan against what happened", "Numerics record",
              "Limited by", "peak", "1 Jy/beam", stats["bottleneck"], stats["device"]):
    assert words in text, words
for name, value in stats["numerics"].items():
    assert name in text and value in text, name
PYTHON

# Colours of the page, and of the pixels at and around the picture's brightest source.
for scheme in light dark; do
    [[ $scheme == light ]] && setting=1 || setting=0
    look --blink-settings=preferredColorScheme=$setting --screenshot="$work/$scheme.png" >/dev/null
    check "a screenshot in $scheme" test -s $scheme.png
    check "what is painted in $scheme" env PYTHONPATH="$source_dir/tests/app" PYTHONDONTWRITEBYTECODE=1 \
        python3 - $scheme <<'PYTHON'
import collections, sys
import _screenshot

scheme = sys.argv[1]
width, height, rows = _screenshot.read(scheme + ".png")
assert (width, height) == (900, 1700), (width, height)
count = collections.Counter(pixel for row in rows for pixel in row)
grey = lambda pixel: 0.30 * pixel[0] + 0.59 * pixel[1] + 0.11 * pixel[2]
back = rows[2][2]
assert grey(back) > 230 if scheme == "light" else grey(back) < 40, back
# Text of another brightness stands on it.
title = [grey(pixel) for row in rows[20:110] for pixel in row[20:600]]
assert max(abs(value - grey(back)) for value in title) > 150
# The picture: where most is coloured in the left half. Its source, pixel (39, 49) of 128 from the
# south, is white, and what lies 4 pixels beside it is dark.
is_coloured = [[max(pixel) - min(pixel) > 24 for pixel in row[:440]] for row in rows]
top = next(y for y in range(height) if sum(is_coloured[y]) > 150)
bottom = next(y for y in range(top, height) if sum(is_coloured[y]) < 50)
inside = range(top, bottom)
across = [x for x in range(440) if sum(is_coloured[y][x] for y in inside) > len(inside) // 4]
left, right = across[0], across[-1] + 1
assert abs((right - left) - (bottom - top)) < 8 and right - left > 300, (left, right, top, bottom)
at = lambda x, y: rows[round(bottom - (y + 0.5) / 128 * (bottom - top))][
    round(left + (x + 0.5) / 128 * (right - left))]
assert min(at(39, 49)) > 235, at(39, 49)
assert max(at(35, 49)) < 80 and max(at(43, 49)) < 80, (at(35, 49), at(43, 49))
# Kernels are drawn in their colour.
kernel = (0x73, 0x57, 0xC4) if scheme == "light" else (0xA0, 0x8A, 0xE6)
assert count[kernel] > 20, count[kernel]
PYTHON
done
verdict
