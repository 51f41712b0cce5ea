#!/bin/bash
# The command line of sluice bench: what is refused before anything is measured.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"

refuses 2 'no benchmark: expected sluice bench engine' bench
refuses 2 "'gpu' is no benchmark" bench gpu
refuses 2 "'more' is no benchmark" bench engine more
refuses 2 'no option --stats' bench engine --stats x
refuses 4 '16 MiB of --vram' bench engine -q --quick --device host --vram 1M --ram 64M
refuses 5 '/nowhere: cannot write there' bench engine -q --quick --device host --vram 32M \
    --ram 64M --work /nowhere
refuses 2 "'twice' is no benchmark" bench copy twice
refuses 2 'no option --sort' bench copy --sort
refuses 2 'sluice bench copy writes no files' bench copy --work .
accepts 'half as many rounds' bench copy --help
check "the help of one has no option of another" test -z "$(grep -e --array .out)"
accepts '--array SIZE' bench io --help
accepts '--chart FILE' bench --help
run bench copy -q --json --device host --threads 1 --vram 1M --ram 64M
check "copies that do not fit are omitted, and said" python3 - .out <<'PYTHON'
import json, sys
result = json.load(open(sys.argv[1]))
assert result["figures"] == [], result
assert len(result["omitted"]) == 11, result
names = ["transpose", "slice", "reversed"]
assert all(sum(line.count(name) for name in names) == 1 for line in result["omitted"]), result
assert all(line.endswith(" is needed (--vram)") for line in result["omitted"]), result
PYTHON
refuses 4 'staging' bench copy -q --device host --threads 1 --vram 1M --ram 1M
check "nothing was written" test -z "$(ls)"
verdict
