#!/bin/bash
# sluice bench ladder: every step of the host is there, right and in order; table, JSON and chart.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"

refuses 2 "'twice' is no benchmark" bench ladder twice
refuses 2 'only sluice bench ladder draws one' bench copy --chart x.png
refuses 5 '/nowhere/x.png' bench ladder -q --quick --device host --chart /nowhere/x.png
refuses 4 'ladder' bench ladder -q --quick --device host --threads 1 --ram 1M --vram 1M
check "nothing was written" test -z "$(ls)"

chart=(--chart steps.png)
run bench ladder -q --quick --json --device host --threads 2 "${chart[@]}"
if [[ $code -eq 3 ]] && grep -q libpng .err; then # built without it, and said
    chart=()
    run bench ladder -q --quick --json --device host --threads 2
fi
[[ $code -eq 0 ]] || fail "sluice $last: exit code $code: $(cat .err)"
check "the JSON is what docs/bench.md says" python3 - .out <<'PYTHON'
import json, math, sys
result = json.load(open(sys.argv[1]))
steps = result["steps"]
assert [step["name"] for step in steps] == \
    ["scalar", "single precision", "vector sine", "matrix product"], steps
assert [step["step"] for step in steps] == [1, 2, 3, 4], steps
assert result["threads"] == 2 and result["size"] > 0 and result["visibilities"] > 0, result
before = steps[0]
for step in steps:
    assert step["pairs_per_second"] > 0 and 0 <= step["error"] <= step["error_bound"], step
    for key, other in (("ratio_before", before), ("ratio_first", steps[0])):
        ratio = step["pairs_per_second"] / other["pairs_per_second"]
        assert math.isclose(step[key], ratio, rel_tol=1e-9), (key, step)
    if "limit_is" in step:
        share = step["pairs_per_second"] / result["limits"][step["limit_is"]]
        assert math.isclose(step["share"], share, rel_tol=1e-9), step
    before = step
# Double is right to some 10^-15, single to its phases: 10^-7 of some hundred turns.
assert steps[0]["error"] < 1e-13 < steps[1]["error"] < 1e-4, steps
PYTHON
if [[ ${#chart[@]} -gt 0 ]]; then
    check "the chart is a PNG" test "$(head -c 4 steps.png | tail -c 3)" = PNG
fi
verdict
