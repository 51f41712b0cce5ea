# Sourced after support_program.sh by the tests that kill runs: makes a small set, images it without a
# break, and then kills and resumes runs of the same command under other budgets and threads.
#
# What a killed run leaves beside its checkpoint are temporary files of its outputs; none is under a final
# name.

"$program" image none -o none.h5 --checkpoint none >.out 2>.err
if grep -q 'without xxHash' .err; then
    echo "this build has no xxHash, and so no checkpoints: not run"
    exit 77
fi

# Where there is a card, SLUICE_TEST_DEVICE=cuda tests it instead.
common=(--no-progress --no-probe --device "${SLUICE_TEST_DEVICE:-host}")

# What a run that is not killed may take, and the least and the most of one that is, in KiB.
whole_budget=(--vram 12M --ram 64M)
vram_kib=(9216 16384)
ram_kib=(49152 81920)

random_between() {
    echo $(($1 + (RANDOM * 32768 + RANDOM) % ($2 - $1 + 1)))
}

# What a run says it found; it must not depend on how often the run was killed.
totals() {
    grep -E '^  "(visibilities_|samples_|weight_sum|abs_sum|peak|rms)' "$1"
}

make_image_set() {
    run simulate -o set.uvh5 --array vla-d --rows 12000 --channels 2 --no-progress
    image=(image set.uvh5 --size 96 --channels-out 2 --weight uniform "${common[@]}")
    accepts "" "${image[@]}" "${whole_budget[@]}" -o whole.h5 --psf whole_psf.h5 --stats whole.json
}

same_image() {
    check "the image is another one" cmp whole.h5 broken.h5
    check "the PSF is another one" cmp whole_psf.h5 broken_psf.h5
    check "the totals are others" cmp <(totals whole.json) <(totals broken.json)
    check "the checkpoint is still there" [ ! -e ck ]
    check "the journal is still there" [ ! -e ck.journal ]
}

# kill_runs WANTED SAME COMMAND…: in the present folder, which is this worker's own.
kill_runs() {
    local wanted=$1 same=$2 pid pause begin whole_ms
    shift 2
    n_killed=0 n_done=0 n_resumed=0
    # Moments within the time that a whole run takes here and now.
    begin=$(date +%s%N)
    run "$@" "${whole_budget[@]}" --overwrite --checkpoint ck --every 2ms
    [[ $code -eq 0 ]] || fail "a run with a checkpoint left with $code: $(cat .err)"
    $same
    whole_ms=$((($(date +%s%N) - begin) / 1000000 + 20))
    while [[ $n_killed -lt $wanted ]]; do
        "$program" "$@" --vram "$(random_between "${vram_kib[@]}")K" \
            --ram "$(random_between "${ram_kib[@]}")K" --threads $((1 + RANDOM % 3)) \
            --checkpoint ck --every 2ms --resume --overwrite >broken.out 2>broken.err &
        pid=$!
        pause=$((RANDOM % whole_ms))
        sleep "$((pause / 1000)).$(printf '%03d' $((pause % 1000)))"
        kill -KILL $pid 2>/dev/null
        wait $pid 2>/dev/null
        code=$?
        if [[ $code -eq 137 ]]; then
            n_killed=$((n_killed + 1))
        elif [[ $code -eq 0 ]]; then
            n_done=$((n_done + 1))
            $same
        else
            fail "a resumed run left with $code: $(cat broken.err)"
            return
        fi
        if grep -q 'going on with' broken.err; then
            n_resumed=$((n_resumed + 1))
        fi
        rm -f ./*.part-*
    done
    run "$@" "${whole_budget[@]}" --overwrite --checkpoint ck --resume
    [[ $code -eq 0 ]] || fail "the last run left with $code: $(cat .err)"
    n_done=$((n_done + 1))
    $same
}

# kill_and_resume KILLS SAME COMMAND…: runs the command with a checkpoint until it comes through, killing
# it at random moments, again and again until it was killed so often. SAME checks each result. Most of the
# time of a run that will be killed is spent waiting, so where they are many several go on side by side,
# each in a folder of its own in which the files made so far seem to lie.
kill_and_resume() {
    local wanted=$1 k killed resumed through checks failed sum=(0 0 0)
    local n_workers=$((wanted < 100 ? 1 : 4))
    shift
    for ((k = 0; k < n_workers; k++)); do
        rm -rf "$work/worker$k"
        mkdir "$work/worker$k"
        (
            ln -s "$work"/*.* "$work/worker$k"
            work=$work/worker$k
            cd "$work" || exit 1
            RANDOM=$((RANDOM + 7919 * k))
            n_checks=0 n_failed=0
            kill_runs $((wanted / n_workers + (k < wanted % n_workers))) "$@"
            echo $n_killed $n_resumed $n_done $n_checks $n_failed >counts
        ) &
    done
    wait
    for ((k = 0; k < n_workers; k++)); do
        if ! read -r killed resumed through checks failed <"$work/worker$k/counts"; then
            fail "worker $k came to no end"
            continue
        fi
        sum=($((sum[0] + killed)) $((sum[1] + resumed)) $((sum[2] + through)))
        n_checks=$((n_checks + checks)) n_failed=$((n_failed + failed))
    done
    check "${sum[0]} runs were killed, not $wanted" [ "${sum[0]}" -eq "$wanted" ]
    echo "${sum[0]} runs killed, ${sum[1]} had resumed another, ${sum[2]} came through"
}

# Pixels of the image by the antennas of the set's rows: any integers that are no larger than the image do.
make_gather() {
    gather=(gather whole.h5:/image --index set.uvh5:/Header/ant_1_array --axis 2 "${common[@]}")
    accepts "" "${gather[@]}" "${whole_budget[@]}" -o gathered.h5:/v
}

same_gather() {
    check "the gathered array is another one" cmp gathered.h5 broken_g.h5
    check "the checkpoint is still there" [ ! -e ck ]
}

make_predict() {
    local k
    for k in {1..400}; do
        printf 'l=0.0%03d m=-0.00%02d flux=0.%d\n' $((k * 7 % 600)) $((k * 13 % 100)) "$k"
    done >sky.txt
    predict=(predict --model sky.txt set.uvh5 "${common[@]}")
    accepts "" "${predict[@]}" "${whole_budget[@]}" -o predicted.uvh5
}

same_predict() {
    check "the predicted set is another one" cmp predicted.uvh5 broken.uvh5
    check "the checkpoint is still there" [ ! -e ck ]
}

# The image's pixels, all that can be asked for.
make_stats() {
    stats=(stats whole.h5:/image --json --quantiles 0.1,0.9 --histogram 50 "${common[@]}")
    accepts "" "${stats[@]}" "${whole_budget[@]}"
    cp .out whole.stats
}

# A run that came through has printed to broken.out or, run by `run`, to .out.
same_stats() {
    check "the statistics are others" \
        cmp whole.stats "$(if [[ broken.out -nt .out ]]; then echo broken.out; else echo .out; fi)"
    check "the checkpoint is still there" [ ! -e ck ]
    check "the journal is still there" [ ! -e ck.journal ]
}

# An array that is turned, and stored in chunks that are encoded: rows of visibilities, each chunk some of
# one channel and polarisation. Memory is so short that there are many tiles, which cut chunks.
make_rewrite() {
    vram_kib=(8 400)
    ram_kib=(8192 20480)
    whole_budget=(--vram 32K --ram 16M)
    repack=(repack set.uvh5:/Data/visdata --chunk 50,1,1 --filter deflate:4 "${common[@]}")
    transpose=(transpose set.uvh5:/Data/visdata --chunk 1,1,300 --filter zstd:1 "${common[@]}")
    accepts "" "${repack[@]}" "${whole_budget[@]}" -o repacked.h5:/v
    accepts "" "${transpose[@]}" "${whole_budget[@]}" -o turned.h5:/v
}

same_repack() {
    check "the repacked array is another one" cmp repacked.h5 broken_r.h5
    check "the checkpoint is still there" [ ! -e ck ]
}

same_transpose() {
    check "the turned array is another one" cmp turned.h5 broken_t.h5
    check "the checkpoint is still there" [ ! -e ck ]
}
