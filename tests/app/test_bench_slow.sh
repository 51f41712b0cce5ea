#!/bin/bash
# sluice bench engine, whole and within small budgets, as JSON.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"

# Little memory: what does not fit is left out and said, everything else is measured.
mkdir work
run bench engine -q --quick --json --device host --threads 2 --vram 32M --ram 64M --work work
[[ $code -eq 0 ]] || fail "sluice $last: exit code $code: $(cat .err)"
check "nothing is left behind" test -z "$(ls -A work)"
check "the JSON is what docs/bench.md says" python3 - .out <<'PYTHON'
import json, math, sys
result = json.load(open(sys.argv[1]))
figures = result["figures"]
names = [figure["what"] for figure in figures]
assert len(set(names)) == len(names), names
for figure in figures:
    assert math.isfinite(figure["measured"]), figure
    assert figure["measured"] > 0 or figure["what"].startswith("overlap"), figure
    assert ("limit" in figure) == ("share" in figure), figure
    if "share" in figure:
        assert abs(figure["share"] * figure["limit"] / figure["measured"] - 1) < 1e-9, figure
    if "goal" in figure:
        assert figure["is_met"] == (figure["share"] >= figure["goal"] * (1 - 1e-12)), figure
for wanted in ("bus, both ways together", "engine overhead, 256 KiB tiles",
               "RAM to RAM, through the device"):
    assert wanted in names, (wanted, names)
for start, count in (("image, --vram", 1), ("that image, against", 1), ("the image with all", 1),
                     ("loops until done", 1), ("gather 0.1 %", 1), ("gather 1 %", 1),
                     ("gather 10 %", 1), ("gather 5.24e+05 of 32 MiB", 1),
                     ("gather 7.86e+05 of 48 MiB", 1)):
    assert sum(name.startswith(start) for name in names) == count, (start, names)
notes = {figure["what"]: figure.get("note", "") for figure in figures}
assert "rounds a tile" in notes["loops until done, 256 KiB tiles"], notes
for name, note in notes.items():
    if name.startswith("gather") and "%" in name:
        assert "mapped planned" in note and "; streamed" in note, note
    if name.startswith("copy through"):
        assert note.startswith("slots "), note
assert any("tiles of 64 MiB" in reason for reason in result["omitted"]), result["omitted"]
PYTHON

# Every copy of the table, sorted and unsorted; that they are right is checked by the program.
run bench copy -q --quick --json --device host --threads 2
[[ $code -eq 0 ]] || fail "sluice $last: exit code $code: $(cat .err)"
check "each copy stands there sorted and unsorted" python3 - .out <<'PYTHON'
import json, sys
result = json.load(open(sys.argv[1]))
names = [figure["what"] for figure in result["figures"]]
plain = [name for name in names if not name.endswith(", unsorted")]
assert len(plain) == 11 and len(set(names)) == 22, names
assert names == [name for pair in plain for name in (pair, pair + ", unsorted")], names
for figure in result["figures"]:
    assert figure["unit"] == "GB/s" and figure["measured"] > 0 and figure["limit"] > 0, figure
    assert ("goal" in figure) == (figure["what"] in plain), figure
assert result["omitted"] == [] and result["is_sound"], result
PYTHON

# What does not fit beside the array is left out, and the rest is measured.
run bench io -q --quick --json --device host --threads 2 --vram 64M --ram 65M --array 32M --work work
[[ $code -eq 0 ]] || fail "sluice $last: exit code $code: $(cat .err)"
check "what does not fit --ram is said" python3 - .out <<'PYTHON'
import json, sys
result = json.load(open(sys.argv[1]))
names = [figure["what"] for figure in result["figures"]]
assert "stats of contiguous, beside reading" in names and "read shuffle+zstd:3" in names, names
assert not any(name.startswith("repack") or name == "stats of contiguous" for name in names), names
for what in ("stats beside H5Dread", "decoding in caches", "stats", "repack"):
    assert any(reason.startswith(what + ": ") for reason in result["omitted"]), result["omitted"]
PYTHON
verdict
