# 200 runs of `sluice image`, killed at random moments and resumed under other budgets.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/support_program.sh"
source "$here/support_resume.sh"

make_image_set
kill_and_resume 200 same_image "${image[@]}" -o broken.h5 --psf broken_psf.h5 --stats broken.json

verdict
