#!/bin/bash
# The test of this example: it images a small simulated set, and refuses a file that is not there.
set -eu
example=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$SLUICE_PROGRAM" simulate -o "$folder/small.uvh5" --rows 2000 --quiet
"$example" "$folder/small.uvh5" "$folder/dirty.h5" | tee "$folder/says"
grep -q '^peak ' "$folder/says"
test -s "$folder/dirty.h5"
code=0
"$example" "$folder/absent.uvh5" "$folder/none.h5" || code=$?
test "$code" -eq 3
test ! -e "$folder/none.h5"
