# 200 runs of `sluice image`, killed at random moments and resumed under other budgets.
source "$(dirname "$0")/support_program.sh"
source "$(dirname "$0")/support_resume.sh"

make_image_set
kill_and_resume 200 same_image "${image[@]}" -o broken.h5 --psf broken_psf.h5 --stats broken.json

verdict
