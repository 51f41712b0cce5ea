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
check "nothing was written" test -z "$(ls)"
verdict
