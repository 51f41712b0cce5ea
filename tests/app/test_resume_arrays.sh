#!/bin/bash
# Jobs that store an array in encoded chunks: killed at random moments and resumed under other budgets,
# and stopped by signals.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/support_program.sh"
source "$here/support_resume.sh"

make_image_set
make_rewrite
kill_and_resume 10 same_repack "${repack[@]}" -o broken_r.h5:/v
kill_and_resume 10 same_transpose "${transpose[@]}" -o broken_t.h5:/v

# ---- interrupted ---------------------------------------------------------------------------------------
# A run that takes seconds is stopped in its middle: soon, with a state that is gone on with.
long=(repack long.uvh5:/Data/visdata --chunk 100,8,1 --filter deflate:9 "${common[@]}")
run simulate -o long.uvh5 --array vla-d --rows 60000 --channels 32 --no-progress
for signal in INT TERM; do
    "$program" "${long[@]}" -o long.h5:/v --vram 64K --ram 32M --threads 1 --checkpoint ck \
        --every 1h --overwrite >broken.out 2>broken.err &
    pid=$!
    sleep 0.7
    begin=$(date +%s%N)
    kill -$signal $pid
    wait $pid
    code=$?
    ms=$((($(date +%s%N) - begin) / 1000000))
    n_checks=$((n_checks + 1))
    if [[ $code -eq 0 ]]; then
        echo "SIG$signal: the run was too quick to be stopped"
        continue
    fi
    [[ $code -eq 130 ]] || fail "SIG$signal: exit code $code: $(cat broken.err)"
    [[ $ms -lt 2000 ]] || fail "SIG$signal: it took $ms ms"
    grep -q -e --resume broken.err || fail "SIG$signal: it does not say how to go on"
    check "SIG$signal: there is no checkpoint" [ -e ck ]
    run "${long[@]}" -o long.h5:/v --vram 1M --ram 48M --checkpoint ck --resume
    [[ $code -eq 0 ]] || fail "SIG$signal: exit code $code when resumed: $(cat .err)"
    grep -q 'going on with' .err || fail "SIG$signal: it was not resumed: $(cat .err)"
    [[ -e first.h5 ]] || mv long.h5 first.h5
    check "SIG$signal: the checkpoint is still there" [ ! -e ck ]
    echo "SIG$signal: stopped after $ms ms"
done
run "${long[@]}" -o long.h5:/v --vram 1M --ram 48M --overwrite
check "what was interrupted is another array" cmp long.h5 first.h5

verdict
