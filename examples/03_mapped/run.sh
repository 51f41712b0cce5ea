#!/bin/bash
# The test of this example: with 32 MiB the table of 8 MiB is in device memory, with 4 MiB it is mapped,
# and both look up the same; with less than a tile nothing runs.
set -eu
example=$1
"$example" $((32 << 20)) 1000000 | tee says
grep -q '^resident' says
grep -q '^0 wrong of 1000000' says
"$example" $((4 << 20)) 1000000 | tee says
grep -q '^mapped' says
grep -q '^0 wrong of 1000000' says
code=0
"$example" 4096 1000000 2> says || code=$?
test "$code" -eq 4
grep -q 'the smallest that works is [0-9]* (--vram)' says
