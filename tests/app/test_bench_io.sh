#!/bin/bash
# sluice bench io of a small array: every line is there, and nothing is left behind.
# What the readers found is compared by the program itself.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"

mkdir work
refuses 2 'bytes' bench io --array much
for size in 0 64 1023K; do
    refuses 2 'expected 1M at least' bench io --array $size
done
refuses 2 'only sluice bench io' bench copy --array 32M
refuses 2 'only sluice bench io' bench ladder --array 32M
refuses 4 'array that is measured with' bench io -q --device host --threads 1 --vram 32M --ram 32M \
    --array 32M --work work
refuses 4 'array that is measured with' bench io -q --device host --threads 1 --vram 32M --ram 32M \
    --array 9223372036854775807 --work work
check "nothing is left behind" test -z "$(ls -A work)"

run bench io -q --quick --json --device host --threads 2 --vram 64M --ram 512M --array 32M \
    --work work
[[ $code -eq 0 ]] || fail "sluice $last: exit code $code: $(cat .err)"
check "nothing is left behind" test -z "$(ls -A work)"
check "the JSON is what docs/bench.md says" python3 - .out <<'PYTHON'
import json, math, shutil, sys

result = json.load(open(sys.argv[1]))
figures = {figure["what"]: figure for figure in result["figures"]}
bare = ["contiguous", "chunks, no filter"]
packed = ["shuffle+zstd:3", "bitshuffle+LZ4", "bitshuffle+zstd:1", "shuffle+deflate:4"]
wanted = ["index of 10^6 chunks"]
wanted += [f"read {kind}" for kind in bare + packed]
wanted += [f"read {kind}, beside pread" for kind in bare]
wanted += [f"decode {kind}, {end}" for kind in packed
           for end in ("1 to 2 threads", "beside the machine")]
wanted += [f"stats of {kind}{end}" for kind in ("contiguous", "shuffle+deflate:4")
           for end in ("", ", beside reading")]
has_tool = shutil.which("h5repack") is not None
wanted += [f"repack to {kind}{end}" for kind in ("shuffle+deflate:4", "shuffle+zstd:3")
           for end in ("", ", beside h5repack")[: 1 + has_tool]]
assert sorted(figures) == sorted(wanted), sorted(set(figures) ^ set(wanted))
assert len(result["figures"]) == len(wanted), "a line stands there twice"
for name, figure in figures.items():
    assert figure["measured"] > 0 and math.isfinite(figure["measured"]), figure
    assert figure["limit"] > 0 and figure["limit_is"], figure
    assert ("goal" in figure) == ("is_met" in figure), figure
goals = {name: figure["goal"] for name, figure in figures.items() if "goal" in figure}
assert goals["index of 10^6 chunks"] == 1 and goals["read shuffle+zstd:3"] == 2.5, goals
assert all(goals[f"decode {kind}, 1 to 2 threads"] == 0.9 for kind in packed), goals
assert all(goals[f"decode {kind}, beside the machine"] == 0.9 for kind in packed), goals
assert all(goals[f"read {kind}, beside pread"] == 0.95 for kind in bare), goals
if has_tool:
    assert goals["repack to shuffle+deflate:4, beside h5repack"] == 1.8, goals
assert "stats of contiguous" not in goals, "the goal is one for cards"
assert all("h5repack" in reason for reason in result["omitted"]), result["omitted"]
assert (result["omitted"] == []) == has_tool, result["omitted"]
PYTHON
verdict
