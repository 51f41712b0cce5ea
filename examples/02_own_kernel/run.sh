#!/bin/bash
# The test of this example: an array of ones, sqrt(1 + 3) = 2 and sqrt(2 * 2 - 3) = 1 again, in more than
# one tile; and what is refused.
set -eu
example=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$SLUICE_PROGRAM" simulate -o set.uvh5 --rows 140000 --channels 8 --quiet
"$example" set.uvh5 /Data/nsamples same.h5 0
"$example" same.h5 /out two.h5 3 | tee says
"$example" two.h5 /out back.h5 -3
cmp same.h5 back.h5
tiles=$(sed 's/.* in \([0-9]*\) tiles.*/\1/' says)
peak=$(sed 's/.* tiles, \([0-9]*\) bytes.*/\1/' says)
bytes=$(sed 's/^\([0-9]*\) bytes.*/\1/' says)
test "$tiles" -gt 1
test "$peak" -le $((4 << 20))
test "$bytes" -gt $((4 << 20))
twos=$(od -An -v -tf4 -w4 two.h5 | grep -c '^ *2$')
test "$twos" -eq $((bytes / 4))
code=0
"$example" set.uvh5 /Data/flags none.h5 1 || code=$?
test "$code" -eq 2
code=0
"$example" absent.h5 /out none.h5 1 || code=$?
test "$code" -eq 3
test ! -e none.h5
