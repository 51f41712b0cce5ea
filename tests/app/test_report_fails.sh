#!/bin/bash
# What is written beside the result cannot be: the result stays, the run leaves with 5, and with a checkpoint
# it can be resumed, which then writes what was lacking and nothing else.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"

need_shared cases/transpose.h5
need_shared cases/bigendian.h5
need_shared cases/base.uvh5
[[ -w /dev/full ]] || { echo "skipped: there is no /dev/full"; exit 77; }
cases=$shared/cases
common=(--device host --no-probe -q --threads 2 --checkpoint k)
echo 'l=0.01 m=-0.005 flux=1.5' >sky.txt
accepts '' simulate -o sim.uvh5 --array vla-d --rows 500 --channels 2 --sky sky.txt -q

# refuses_late ARGUMENT…: the run has printed its results when it fails.
refuses_late() {
    run "$@"
    check "sluice $last: exit code $code, expected 5" test "$code" -eq 5
    check "sluice $last: $(cat .err)" grep -q 'the result itself is written' .err
}

# stays OUTPUT ARGUMENT…
stays() {
    local out=$1
    shift
    for option in --stats --trace --report; do
        refuses 5 'the result itself is written' "$@" "${common[@]}" $option /dev/full
        check "$option of $1: no result" test -s "$out"
        check "$option of $1: no checkpoint" test -s k
        cp "$out" before
        accepts '' "$@" "${common[@]}" $option beside --resume
        check "$option of $1: other bytes" cmp -s "$out" before
        check "$option of $1: nothing beside the result" test -s beside
        check "$option of $1: the checkpoint is left" test ! -e k -a ! -e k.journal
        rm -f "$out" beside before
    done
    # Of several some were written: the run that resumes replaces those, and leaves the result.
    refuses 5 'the result itself is written' "$@" "${common[@]}" --stats one --trace two \
        --report /dev/full
    check "two of $1 are not written" test -s one -a -s two
    local was other
    was=$(stat -c '%i %y' "$out")
    # Another file in the place of one of them is somebody's.
    mv one kept
    echo mine >one
    refuses 5 'one exists' "$@" "${common[@]}" --stats one --trace two --report beside --resume
    mv kept one
    accepts '' "$@" "${common[@]}" --stats one --trace two --report beside --resume
    other=$(stat -c '%i %y' "$out")
    check "$1: the result was written again" test "$was" = "$other"
    check "$1: one beside the result is missing" test -s one -a -s two -a -s beside
    check "$1: the checkpoint is left behind" test ! -e k -a ! -e k.journal
    rm -f "$out" one two beside
}
stays r.h5 repack "$cases/transpose.h5:/x" -o r.h5:/v --filter deflate:1 --chunk 100,100
stays t.h5 transpose "$cases/transpose.h5:/x" -o t.h5:/v --filter none --chunk none
stays g.h5 gather "$cases/transpose.h5:/x" --index "$cases/bigendian.h5:/i" -o g.h5:/v
stays a.fits image "$cases/base.uvh5" -o a.fits --size 50 --scale 0.002rad
stays p.uvh5 predict --model sky.txt sim.uvh5 -o p.uvh5

# Statistics are printed first; what is written beside them, the picture too, can be written again.
stats=(stats "$cases/transpose.h5:/x" --histogram 5 "${common[@]}")
accepts '' "${stats[@]}"
cp .out printed
for option in --stats --trace --report; do
    refuses_late "${stats[@]}" --png p.png $option /dev/full
    check "$option of stats: other results" cmp -s .out printed
    check "$option of stats: no picture or no checkpoint" test -s p.png -a -s k
    accepts '' "${stats[@]}" --png p.png $option beside --resume
    check "$option of stats: other results after that" cmp -s .out printed
    check "$option of stats: nothing beside them" test -s p.png -a -s beside
    check "$option of stats: the checkpoint is left behind" test ! -e k -a ! -e k.journal
    rm -f p.png beside
done
refuses_late "${stats[@]}" --stats one --trace two --report /dev/full
accepts '' "${stats[@]}" --stats one --trace two --report beside --resume
check "stats: one beside the results is missing" test -s one -a -s two -a -s beside
check "the statistics of the run that resumed" grep -q '"resumed": true' one

# Nothing is said to be written of results that were not printed.
code=0
"$program" "${stats[@]}" >/dev/full 2>.err || code=$?
check "stats that cannot be printed: exit code $code, expected 5" test "$code" -eq 5
check "stats that cannot be printed: $(cat .err)" grep -q 'cannot write' .err
check "stats that were not printed are said to be" bash -c '! grep -q "is written" .err'
rm -f k k.journal

verdict
