#!/bin/bash
# sluice bench direct: every line is there, the kernels keep their promise, nothing is left behind.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"

mkdir work
refuses 2 'only sluice bench direct' bench io --vis 1000
refuses 2 'only sluice bench direct' bench ladder --vis 1000
refuses 2 'only sluice bench direct' bench io --tune
refuses 2 'no whole job' bench direct --tune --vis 1000
refuses 2 'only sluice bench direct' bench io --field 'MWA 34 degrees'
refuses 2 'shapes of its own' bench direct --tune --field 'MWA 34 degrees'
refuses 2 'no whole job' bench direct --vis 1000 --field 'MWA 34 degrees'
refuses 2 'expected one of VLA-A L band, .*, MWA 70 degrees' bench direct --field MWA
for n in 0 -1 many; do
    refuses 2 -- bench direct --vis=$n
done
refuses 5 '/nowhere: cannot write there' bench direct -q --device host --work /nowhere

run bench direct -q --quick --json --device host --threads 2 --vram 512M --ram 512M --vis 5000 \
    --work work
[[ $code -eq 0 ]] || fail "sluice $last: exit code $code: $(cat .err)"
check "nothing is left behind" test -z "$(ls -A work)"
check "the JSON is what docs/bench.md says" python3 - .out <<'PYTHON'
import json, math, sys

result = json.load(open(sys.argv[1]))
figures = {figure["what"]: figure for figure in result["figures"]}
assert result["omitted"] == [], result["omitted"]
fields = ["VLA-A L band", "VLA-A L band to 1e-3", "SKA-low 5 degrees", "MWA 34 degrees",
          "MWA 70 degrees"]
image = "sluice image 512^2, 5.1e+03 vis., --vram 256M"  # 64 channels of 79 rows
wanted = ["limit: sgemm", "baseline: vector sine", image]
for field in fields:
    for size in (512, 1024):
        name = f"{field}, {size}^2"
        wanted += [name, f"{name}, exact"]
        if f"{name}, beside sines" in figures:  # where a tile is a product, both ways are timed
            wanted += [f"{name}, beside sines"]
assert sorted(figures) == sorted(wanted), sorted(set(figures) ^ set(wanted))
assert len(result["figures"]) == len(wanted), "a line stands there twice"
assert all(figure["measured"] > 0 for figure in figures.values()), figures
for name, figure in figures.items():
    if "limit" in figure:
        assert math.isclose(figure["share"], figure["measured"] / figure["limit"]), figure
    if name.endswith(", exact"):
        assert figure["is_met"] and figure["goal"] == 1 and figure["limit"] == 1, figure
    if name.endswith(", beside sines"):
        assert figure["goal"] == 1 and figure["limit_is"] == "the sine kernel", figure
assert figures["VLA-A L band, 512^2"]["goal"] == 0.7, figures
assert figures[image]["goal"] == 0.9, figures
# What the tiles hold: products in the narrow field, more terms the wider it is.
assert "4 tiles by products, 0 terms" in figures["VLA-A L band, 512^2"]["note"], figures
PYTHON

# A budget that the pictures do not fit: said, and no more.
run bench direct -q --quick --json --device host --threads 1 --vram 4M --ram 256M --vis 5000 \
    --work work
[[ $code -eq 0 ]] || fail "sluice $last: exit code $code: $(cat .err)"
check "what does not fit is omitted, and said" python3 - .out <<'PYTHON'
import json, sys
result = json.load(open(sys.argv[1]))
names = {figure["what"] for figure in result["figures"]}
assert "limit: sgemm" in names and "MWA 34 degrees, 512^2" not in names, names
assert len(result["omitted"]) >= 1, result["omitted"]
assert result["omitted"][-1] == "sluice image: the kernel alone has no rate to compare with", result
PYTHON
check "nothing is left behind" test -z "$(ls -A work)"

run bench direct -q --quick --json --device host --threads 2 --vram 512M --ram 512M \
    --field 'SKA-low 5 degrees'
[[ $code -eq 0 ]] || fail "sluice $last: exit code $code: $(cat .err)"
check "one field alone is its kernels in one picture" python3 - .out <<'PYTHON'
import json, sys
result = json.load(open(sys.argv[1]))
names = [figure["what"] for figure in result["figures"]]
field = "SKA-low 5 degrees, 512^2"
assert names == [field, f"{field}, exact", f"{field}, beside sines"], names
assert all("limit" not in figure for figure in result["figures"][:1]), result["figures"]
PYTHON

run bench direct -q --quick --json --tune --device host --threads 2 --vram 512M --ram 512M
[[ $code -eq 0 ]] || fail "sluice $last: exit code $code: $(cat .err)"
check "the tuned set is what docs/bench.md says" python3 - .out <<'PYTHON'
import json, math, re, sys
result = json.load(open(sys.argv[1]))
assert result["omitted"] == [], result["omitted"]
assert len(result["figures"]) >= 3, result["figures"]
for figure in result["figures"]:
    assert figure["goal"] == 0.95 and 0 < figure["measured"] <= figure["limit"], figure
    words = re.fullmatch(r"host: split (\d+); best of (\d+): (\d+)", figure["limit_is"])
    rates = dict(re.findall(r"(\d+): ([0-9.e+]+)", figure["note"]))
    assert words and len(rates) == int(words[2]), figure
    assert math.isclose(float(rates[words[1]]), figure["measured"], rel_tol=0.01), figure
    assert math.isclose(float(rates[words[3]]), figure["limit"], rel_tol=0.01), figure
PYTHON
verdict
