#!/bin/bash
# 200 runs of `sluice repack` with a filter, killed at random moments and resumed under other budgets.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/support_program.sh"
source "$here/support_resume.sh"

make_image_set
make_rewrite
kill_and_resume 200 same_repack "${repack[@]}" -o broken_r.h5:/v

verdict
