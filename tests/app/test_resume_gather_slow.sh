# 200 runs of `sluice gather`, killed at random moments and resumed under other budgets.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/support_program.sh"
source "$here/support_resume.sh"

make_image_set
make_gather
kill_and_resume 200 same_gather "${gather[@]}" -o broken_g.h5:/v

verdict
