# 200 runs of `sluice predict`, killed at random moments and resumed under other budgets.
source "$(dirname "$0")/support_program.sh"
source "$(dirname "$0")/support_resume.sh"

make_image_set
make_predict
kill_and_resume 200 same_predict "${predict[@]}" -o broken.uvh5

verdict
