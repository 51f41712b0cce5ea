#!/bin/bash
# --trace and --report from outside: what they hold against the statistics of the same run, what they
# change (nothing), and what is refused.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"
need_shared cases/base.uvh5
base=$shared/cases/base.uvh5

# ---- a run of many tiles: the trace adds up to the statistics
accepts '' simulate -o many.uvh5 --rows 50000 --channels 4 --noise 0.1 -q
picture=(--size 96 --scale 30asec --device host --threads 2 -q)
accepts '' image many.uvh5 -o plain.h5 "${picture[@]}"
accepts '' image many.uvh5 -o a.h5 "${picture[@]}" --vram 3M --ram 32M --trace t.json --report r.html \
    --stats s.json
check "a trace changes no bit" cmp plain.h5 a.h5
check "trace and statistics" python3 - <<'PYTHON'
import collections, json

trace, stats = json.load(open("t.json")), json.load(open("s.json"))
events = trace["traceEvents"]
about = trace["otherData"]
lanes = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
slices = [e for e in events if e["ph"] == "X"]
assert about["inputs"] == ["many.uvh5"] and about["command"] == "sluice image", about
assert about["slices"] == len(slices) and about["slices_dropped"] == 0
assert {"run", "scheduler", "compute", "copy out", "writer"} <= set(lanes.values()), lanes
assert "copy in" not in lanes.values()  # the host device reads in place
staging = {e["cat"] for e in slices if lanes[e["tid"]].startswith("staging")}
assert "staging 0" in lanes.values() and staging == {"fill"}, staging  # so it copies nothing
assert len(set(lanes.values())) == len(lanes)
assert {"thread 0", "thread 1"} >= {n for n in lanes.values() if n.startswith("thread")}

# In each lane one thing at a time; times are exact to the nanosecond, printed in microseconds.
nanoseconds = lambda e, key: round(1000 * e[key])
by_lane = collections.defaultdict(list)
for e in slices:
    by_lane[e["tid"]].append((nanoseconds(e, "ts"), nanoseconds(e, "dur"), e))
for lane, members in by_lane.items():
    assert lane in lanes
    members.sort(key=lambda m: m[0])
    for (begin, duration, e), (after, _, f) in zip(members, members[1:]):
        assert begin + duration <= after, (lanes[lane], e, f)

# What moved and how long it took while imaging is what the statistics say.
phases = {e["name"]: e for e in slices if e["cat"] == "phase"}
assert {"survey", "planning", "PSF and beam", "imaging", "writing files"} <= set(phases)
begin = nanoseconds(phases["imaging"], "ts")
end = begin + nanoseconds(phases["imaging"], "dur")
total = collections.Counter()
for e in slices:
    if e["cat"] != "phase" and begin <= nanoseconds(e, "ts") <= end:
        total[e["cat"], "n"] += 1
        total[e["cat"], "bytes"] += e["args"].get("bytes", 0)
        total[e["cat"], "ns"] += nanoseconds(e, "dur")
TILE_BYTES = 72  # the description of a tile rides along
assert total["kernel", "n"] == stats["tiles"] > 3
assert total["read", "bytes"] == total["fill", "bytes"] == stats["bytes_read"]
assert TILE_BYTES * stats["tiles"] == stats["bytes_h2d"]
assert total["copy out", "bytes"] == total["write", "bytes"] == stats["bytes_d2h"]
for stage, key in (("kernel", "kernel"), ("copy out", "d2h")):
    assert abs(1e-9 * total[stage, "ns"] - stats["seconds"][key]) < 1e-6, (stage, total)

# Where the time of inputs went: to readers, since nothing is copied.
feed = about["copies_in"]
parts = ("copying", "late", "device_full", "reading", "nobody_reads")
assert list(feed) == ["seconds", *parts, "threads_reading"], feed
assert abs(sum(feed[part] for part in parts) - feed["seconds"]) < 1e-9, feed
assert feed["copying"] == feed["late"] == feed["device_full"] == 0 < feed["reading"], feed
assert feed["reading"] <= feed["threads_reading"] <= 2 * feed["seconds"], feed  # of two threads

# The ledger: never above its limits, and its peaks are the statistics'.
for name, limit, peak in (("device memory", "device_limit_bytes", "vram_peak_bytes"),
                          ("host memory", "host_limit_bytes", "host_peak_bytes")):
    used = [e["args"]["bytes"] for e in events if e["ph"] == "C" and e["name"] == name]
    assert max(used) == stats[peak] <= about[limit], (name, used, stats[peak])
assert about["device_limit_bytes"] == 3 << 20 and about["host_limit_bytes"] == 32 << 20
PYTHON

# ---- the page says what the statistics say
check "page and statistics" python3 - <<'PYTHON'
import html.parser, json, re

stats, page = json.load(open("s.json")), open("r.html", encoding="utf-8").read()

class Page(html.parser.HTMLParser):
    VOID = {"meta", "img", "br"}
    def __init__(self):
        super().__init__()
        self.open, self.text, self.tags = [], [], []
    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.open)
    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "title"):
            self.text.append(data)

parsed = Page()
parsed.feed(page)
parsed.close()
assert not parsed.open, parsed.open
group = lambda n: f"{n:,}".replace(",", "\u202f")
for key in ("tiles", "bytes_read", "bytes_h2d", "bytes_d2h"):
    assert parsed.text.count(group(stats[key])) >= 2, key  # planned and measured
assert "as planned" in parsed.text and stats["bottleneck"] in parsed.text
for value in stats["numerics"].values():
    assert value in parsed.text, value
assert any(stats["device"] in text for text in parsed.text)
slices = json.load(open("t.json"))["otherData"]["slices"]
assert sum(tag == "rect" for tag, _ in parsed.tags) == slices
# All of it is in the file: no script, no address, no date.
sources = [a[k] for _, a in parsed.tags for k in ("src", "href", "xlink:href") if k in a]
assert len(sources) == 1 and sources[0].startswith("data:image/png;base64,"), sources
assert not any(tag in ("script", "link", "iframe", "object") for tag, _ in parsed.tags)
assert "://" not in page and not re.search(r"url\(|@import", page)
PYTHON
accepts '' image many.uvh5 -o a.h5 "${picture[@]}" --overwrite --report only.html
check "a report alone" grep -q '<svg id="timeline"' only.html
rm -f only.html plain.h5 a.h5 s.json t.json r.html

# ---- too little memory for all slices: counted, and said once
accepts '' image many.uvh5 -o a.h5 --size 512 --scale 30asec --device host -q
accepts '' repack a.h5:/image -o b.h5:/v --device host --threads 1 --vram 12K --ram 700K --trace t.json \
    --report r.html
dropped=$(python3 -c '
import json
print(json.load(open("t.json"))["otherData"]["slices_dropped"])')
check "slices are dropped" test "$dropped" -gt 0
check "and it is said" grep -q "warning: the trace lacks its last $dropped of" .err
check "once" test "$(grep -c 'warning: the trace' .err)" -eq 1
check "and in the page" grep -q 'are missing: the memory' r.html
rm -f a.h5 b.h5 t.json r.html many.uvh5

# ---- names are bytes, JSON and HTML are UTF-8 and have their own marks
small=(--size 64 --scale 0.002rad --device host -q)
name=$'b"<i>&\n\xff.uvh5'
cp "$base" "$name"
accepts '' image "$name" -o a.h5 "${small[@]}" --trace t.json --report r.html
check "any name is valid JSON" python3 - <<'PYTHON'
import json
assert json.load(open("t.json"))["otherData"]["inputs"] == ['b"<i>&\n\ufffd.uvh5']
page = open("r.html", encoding="utf-8").read()
assert "b&quot;&lt;i&gt;&amp;\ufffd\ufffd.uvh5" in page and "<i>&" not in page
PYTHON
rm -f "$name" a.h5 t.json r.html

# ---- where and when they are written
refuses 2 'a.h5 is named for two outputs' image "$base" -o a.h5 "${small[@]}" --trace a.h5
refuses 2 't.json is named for two outputs' image "$base" -o a.h5 "${small[@]}" --trace t.json \
    --report ./t.json
cp "$base" in.uvh5
refuses 2 'in.uvh5 is an input and an output' image in.uvh5 -o a.h5 "${small[@]}" --report in.uvh5 \
    --overwrite
refuses 2 "^sluice: --trace: '-' is no file" image "$base" -o a.h5 "${small[@]}" --trace -
refuses 2 '^sluice: --report needs a value' image "$base" -o a.h5 "${small[@]}" --report
refuses 5 '^sluice: --trace.*no/such' image "$base" -o a.h5 "${small[@]}" --trace no/such/t.json
touch there.html
refuses 5 '^sluice: --report.*there.html exists; overwriting' image "$base" -o a.h5 "${small[@]}" \
    --report there.html
check "what is refused leaves nothing" test "$(ls | tr '\n' ' ')" = 'in.uvh5 there.html '
refuses 5 '^sluice: --trace: cannot write to /dev/full: No space' image "$base" -o a.h5 \
    "${small[@]}" --trace /dev/full
refuses 5 '^sluice: --report: cannot write to /dev/full: No space' image "$base" -o a.h5 \
    --overwrite "${small[@]}" --report /dev/full
accepts '' image "$base" -o a.h5 --overwrite "${small[@]}" --report there.html --overwrite
check "--overwrite replaces" grep -q '</html>' there.html
rm -f a.h5 there.html
accepts 'plan' image "$base" -o a.h5 --size 64 --scale 0.002rad --device host --dry-run \
    --trace t.json --report r.html
check "a dry run has a time line" python3 -c '
import json
assert "planning" in [e["name"] for e in json.load(open("t.json"))["traceEvents"]]'
check "and a page without what did not happen" grep -q '<svg id="timeline"' r.html

# ---- pictures of every kind: planes, real parts, more pixels than a page shows
picture_of() { # WHAT SIDE WORDS: the page's picture has that many pixels a side, its caption the words
    check "$1" python3 - "$2" "$3" <<'PYTHON'
import base64, re, struct, sys
page = open("r.html", encoding="utf-8").read()
png = base64.b64decode(re.search(r'src="data:image/png;base64,([^"]*)"', page).group(1))
assert png[:8] == b"\x89PNG\r\n\x1a\n" and png[-8:-4] == b"IEND"
assert struct.unpack(">II", png[16:24]) == (int(sys.argv[1]), int(sys.argv[1]))
caption = re.search("<figcaption>(.*)</figcaption>", page).group(1)
assert "North is up" in caption and sys.argv[2] in caption, caption
PYTHON
}
accepts '' image "$base" -o a.h5 "${small[@]}" --channels-out 2 --report r.html --overwrite
picture_of "a cube" 64 'Plane 1 of 2'
accepts '' image "$base" -o a.h5 "${small[@]}" --complex --report r.html --overwrite
picture_of "a complex image" 64 'Jy/beam'
accepts '' image "$base" -o a.h5 --size 1601 --scale 0.0001rad --device host -q --channels 0:1 \
    --report r.html --overwrite
picture_of "a large image" 801 'the mean of 2 x 2'

# ---- a job without a picture: data and list are both taken from the visibility file
accepts '' gather "$base:/Header/uvw_array" --index "$base:/Header/ant_1_array" -o g.h5:/v -q \
    --device host --trace t.json --report r.html --overwrite
check "gather's trace" python3 -c '
import json
trace = json.load(open("t.json"))
assert trace["otherData"]["command"] == "sluice gather"
assert {"gathering", "kernel", "write"} <= {e["name"] for e in trace["traceEvents"]}'
check "and page" grep -q '<h1><small>sluice gather</small>base.uvh5:/Header/uvw_array</h1>' r.html
check "without a picture" test "$(grep -c '<img' r.html)" -eq 0
verdict
