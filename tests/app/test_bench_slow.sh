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
import json, sys
result = json.load(open(sys.argv[1]))
figures = result["figures"]
names = [figure["what"] for figure in figures]
assert len(set(names)) == len(names), names
for figure in figures:
    assert figure["measured"] > 0 or figure["what"].startswith("overlap"), figure
    assert ("limit" in figure) == ("share" in figure), figure
    if "share" in figure:
        assert abs(figure["share"] * figure["limit"] / figure["measured"] - 1) < 1e-9, figure
    if "goal" in figure:
        assert figure["is_met"] == (figure["share"] >= figure["goal"] * (1 - 1e-12)), figure
for wanted in ("bus, both ways together", "engine overhead, 256 KiB tiles",
               "RAM to RAM, through the device"):
    assert wanted in names, (wanted, names)
assert any(name.startswith("image, --vram") for name in names), names
assert any("tiles of 64 MiB" in reason for reason in result["omitted"]), result["omitted"]
PYTHON

verdict
