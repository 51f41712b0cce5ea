# Checkpoints from outside: kill -9 at random moments, interrupts, damage, other parameters.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/support_program.sh"
source "$here/support_resume.sh"

# ---- what is refused before anything is done -----------------------------------------------------
make_image_set
refuses 2 'needs --checkpoint' "${image[@]}" -o x.h5 --resume
refuses 2 'needs --checkpoint' "${image[@]}" -o x.h5 --every 10s
refuses 2 'no unit' "${image[@]}" -o x.h5 --checkpoint ck --every 10
refuses 2 'input and an output' "${image[@]}" -o x.h5 --checkpoint set.uvh5
refuses 2 'is the name of a journal; expected the checkpoint that it is of, ck$' "${image[@]}" -o x.h5 \
    --checkpoint ck.journal --resume
refuses 2 'two outputs' "${image[@]}" -o x.h5 --checkpoint x.h5
check "a refused run leaves a file" [ ! -e ck.journal ]

# ---- killed at random moments ----------------------------------------------------------------------
kill_and_resume 20 same_image "${image[@]}" -o broken.h5 --psf broken_psf.h5 --stats broken.json

make_gather
kill_and_resume 6 same_gather "${gather[@]}" -o broken_g.h5:/v
make_stats
kill_and_resume 6 same_stats "${stats[@]}"
make_predict
kill_and_resume 6 same_predict "${predict[@]}" -o broken.uvh5

# ---- interrupted -------------------------------------------------------------------------------------
interrupt() { # SIGNAL: leaves the exit code in $code
    "$program" "${image[@]}" -o broken.h5 --psf broken_psf.h5 --stats broken.json --vram 9M --ram 64M \
        --threads 1 --overwrite --checkpoint ck --every 1h --resume >broken.out 2>broken.err &
    local pid=$!
    sleep "$2"
    kill -"$1" $pid 2>/dev/null
    wait $pid
    code=$?
}
# At first too early, in the survey, then later and later, until a run has come to its tiles.
for signal in INT TERM; do
    for pause in 0.05 0.1 0.2 0.4 0.8; do
        interrupt $signal $pause
        n_checks=$((n_checks + 1))
        # 143: before the program had come so far as to notice signals.
        [[ $code -eq 130 || $code -eq 143 || $code -eq 0 ]] || fail "SIG$signal: exit code $code"
        if [[ $code -eq 130 && -e ck ]]; then
            grep -q -e --resume broken.err || fail "SIG$signal: it does not say how to go on"
            break
        fi
    done
done
# The last of these may have come through, and taken the checkpoint with it.
for pause in 0.05 0.1 0.15 0.2 0.3 0.4; do
    [[ -e ck ]] || interrupt INT $pause
done
if [[ -e ck ]]; then
    # Without --resume what is there is kept; with other parameters it is refused.
    refuses 5 '--resume' "${image[@]}" --quiet -o x.h5 --psf y.h5 "${whole_budget[@]}" --checkpoint ck
    run "${image[@]}" -o x.h5 --psf y.h5 "${whole_budget[@]}" --checkpoint ck --resume --epsilon 1e-5
    [[ $code -eq 3 ]] || fail "another epsilon: exit code $code"
    grep -q 'epsilon' .err || fail "another epsilon: $(cat .err)"
    # From another folder, and with a copy of the set that kept its time.
    mkdir elsewhere
    cp -p set.uvh5 elsewhere/copy.uvh5
    mv ck ck.journal elsewhere
    run image elsewhere/copy.uvh5 "${image[@]:2}" -o broken.h5 --psf broken_psf.h5 \
        --stats broken.json "${whole_budget[@]}" --overwrite --checkpoint elsewhere/ck --resume
    [[ $code -eq 0 ]] || fail "from another folder: exit code $code: $(cat .err)"
    grep -q '"resumed": true' broken.json || fail "the statistics do not say that it was resumed"
    same_image
else
    echo "no run was interrupted among its tiles: that part was not tested"
fi
rm -rf ck ck.journal ./*.part-*

# ---- a disk that is full -------------------------------------------------------------------------------
if [[ -w /dev/full ]]; then
    refuses 5 'no ordinary file' "${image[@]}" --quiet -o x.h5 "${whole_budget[@]}" --checkpoint /dev/full
fi
( # files of at most 66 KiB: there is room for the image, not for the checkpoint's sums of 16 bytes
    ulimit -f 66
    "$program" image set.uvh5 --size 64 "${common[@]}" "${whole_budget[@]}" -o small.h5 --checkpoint full \
        --every 1ms >small.out 2>small.err
)
code=$?
n_checks=$((n_checks + 1))
[[ $code -eq 0 ]] || fail "with a full disk: exit code $code: $(cat small.err)"
grep -q 'warning: cannot write to full.*the run goes on' small.err ||
    fail "a full disk is not warned of: $(cat small.err)"
check "a full disk leaves a checkpoint" [ ! -e full.journal ]

verdict
