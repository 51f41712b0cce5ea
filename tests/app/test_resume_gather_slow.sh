# 200 runs of `sluice gather`, killed at random moments and resumed under other budgets.
source "$(dirname "$0")/support_program.sh"
source "$(dirname "$0")/support_resume.sh"

make_image_set
make_gather
kill_and_resume 200 same_gather "${gather[@]}" -o broken_g.h5:/v

verdict
