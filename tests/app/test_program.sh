#!/bin/bash
# The program on small real files: what it prints where, what it leaves behind, and its exit codes.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"
need_shared cases/base.uvh5
base=$shared/cases/base.uvh5
picture=(--size 128 --scale 0.002rad --device host)

# value KEY…: that member of the JSON in the file json.
value() {
    python3 -c 'import json, sys
value = json.load(open("json"))
for key in sys.argv[1:]:
    value = value[key]
print(value)' "$@"
}

no_leftovers() { # WHAT: only .out, .err and the names given are there
    local what=$1
    shift
    check "$what: left behind $(ls | tr '\n' ' ')" test "$(ls | sort | tr '\n' ' ')" = "$*${*:+ }"
}

# ---- the last line: peak, position, rms, beam
accepts 'peak' image "$base" -o a.h5 "${picture[@]}"
last_line=$(tail -n 1 .out)
for words in '^peak 1\(\.0*\)\? Jy/beam at pixel (39, 49)' 'RA 04:02:27.98' 'Dec -30:19:37.8' \
    '60.6166' '-30.3271' 'rms 0' 'beam'; do
    check "the last line lacks $words: $last_line" grep -q -e "$words" <<<"$last_line"
done
no_leftovers "an image" a.h5
refuses 5 'a.h5 exists; overwriting' image "$base" -o a.h5 -q "${picture[@]}"
accepts '' image "$base" -o a.h5 -q --overwrite "${picture[@]}"
check "--quiet says nothing" test ! -s .out -a ! -s .err
rm a.h5

# ---- sizes in each spelling
for spelling in '127 127' 127 127x127 '=127' '=127x127'; do
    # shellcheck disable=SC2086 # one or two words
    set -- --size $spelling
    [[ $spelling == =* ]] && set -- "--size$spelling"
    accepts '(38, 48)' image "$base" -o b.h5 --scale 0.002rad --device host "$@" --overwrite
done
rm b.h5

# ---- statistics
accepts '^{' image "$base" -o c.h5 "${picture[@]}" --stats - --vram 64M
cp .out json
check "the final line goes to standard error" grep -q '^peak 1' .err
check "vram_limit_bytes" test "$(value vram_limit_bytes)" = 67108864
check "visibilities_used" test "$(value visibilities_used)" = 1440
check "vram_peak_bytes" test "$(value vram_peak_bytes)" -le 67108864
accepts '^peak' image "$base" -o c.h5 "${picture[@]}" --stats json --overwrite
for key in device vram_limit_bytes vram_peak_bytes host_peak_bytes tiles passes slots chunks_read \
    chunks_decoded bytes_read bytes_h2d bytes_d2h overlap bottleneck visibilities_used \
    visibilities_flagged visibilities_nonfinite weight_sum pairs_per_second epsilon numerics plan; do
    check "the statistics lack $key" value "$key" >/dev/null
done
for key in total read h2d kernel d2h write; do
    check "the statistics lack seconds.$key" value seconds "$key" >/dev/null
    check "the plan lacks seconds.$key" value plan seconds "$key" >/dev/null
done
for key in vram_peak_bytes host_peak_bytes tiles passes slots chunk_reads_per_pass bytes_read \
    bytes_h2d bytes_d2h overlap bottleneck visibilities_used visibilities_flagged \
    pairs_per_second; do
    check "the plan lacks $key" value plan "$key" >/dev/null
done
accepts 'of output channel 0, RA' image "$base" -o cube.h5 "${picture[@]}" --channels-out 2
rm cube.h5
refuses 5 'No space left' image "$base" -o c.h5 -q "${picture[@]}" --stats /dev/full --overwrite
rm -f c.h5 json

# ---- a dry run writes nothing, and neither does what is refused
accepts 'plan' image "$base" -o d.h5 "${picture[@]}" --dry-run
accepts 'plan' image "$base" "${picture[@]}" --dry-run --vram 64M
accepts '' image "$base" --size 65537 65537 --scale 1e-5rad --device host --dry-run --vram 64M \
    --ram 1T
large=("$base" --size 4096 --scale 1e-4rad --device host --dry-run --vram 64M -q)
run image "${large[@]}" --ram 100M
check "a plan that --ram forbids leaves with 4" test $code -eq 4
check "but is shown" grep -q '^plan for' .out
check "and one line says so" test "$(wc -l <.err)" -eq 1
needed=$(sed -n 's/^sluice: this run would be refused: it needs --ram \([0-9]*\),.*/\1/p' .err)
check "with what it needs: $(cat .err)" test -n "$needed"
accepts 'plan' image "${large[@]}" --ram "${needed:-0}"
(
    ulimit -f 0
    "$program" image "$base" "${picture[@]}" --dry-run --stats full.json -q 2>&1 >/dev/null
) | cat >.err
check "statistics that cannot be written: $(cat .err)" \
    grep -q '^sluice: --stats: cannot write to full.json: File too large' .err
# OpenBLAS waits for threads of its own that got no memory; the program does not wait with it.
for addresses in 120000 160000 200000; do
    code=0
    (
        ulimit -v $addresses
        exec timeout 20 "$program" --version >/dev/null 2>&1
    ) || code=$?
    check "bounded addresses: $addresses KiB end in 20 s" test $code -ne 124
done
# Nor does OpenBLAS look for memory for ever where a run's products need it; the limit that the message
# names is enough. A program with a sanitizer starts under no limit at all.
image_within() { # ADDRESSES: leaves the exit code in $code
    code=0
    (
        ulimit -v "$1"
        OPENBLAS_NUM_THREADS=1 exec timeout -k 1 20 "$program" image "$base" -o v.h5 -q \
            "${picture[@]}" --threads 2 >/dev/null 2>.err
    ) || code=$?
}
if (ulimit -v 8000000 && "$program" --version >/dev/null 2>&1); then
    for addresses in 160000 220000 280000; do
        image_within $addresses
        check "an image within $addresses KiB leaves with 4, not $code: $(cat .err)" \
            test $code -eq 4
    done
    check "nothing is written" test ! -e v.h5
    enough=$(sed -n 's/.*OpenBLAS.* ulimit -v \([0-9]*\) is enough.*/\1/p' .err)
    check "the message says which limit is enough: $(cat .err)" test -n "$enough"
    image_within "${enough:-1}"
    check "which it is: $(cat .err)" test $code -eq 0
    rm -f v.h5
fi
# Nor does a small stack end a run, with which threads would start too.
(ulimit -s 128 && exec "$program" image "$base" -o v.h5 -q "${picture[@]}" >/dev/null 2>.err)
code=$?
check "a stack of 128 KiB makes a picture: $(cat .err)" test $code -eq 0
rm -f v.h5
(ulimit -s 128 && exec "$program" stats "$base:/Data/nsamples" >/dev/null 2>.err)
code=$?
check "and statistics: $(cat .err)" test $code -eq 0
# Few descriptors: with how many a run gets to the file depends on what the shell has open, but the reason
# is named, by whoever finds it first.
for descriptors in 4 5; do
    (ulimit -n $descriptors && exec "$program" stats "$base:/Data/nsamples") >/dev/null 2>.err
    check "$descriptors descriptors: the reason is named: $(cat .err)" \
        grep -q 'Too many open files\|loading shared libraries.*Error 24' .err
done
refuses 3 'nothing.uvh5' image nothing.uvh5 -o d.h5 -q "${picture[@]}"
refuses 3 'truncated.h5' image "$shared/cases/truncated.h5" -o d.h5 -q "${picture[@]}"
refuses 3 'empty_file.h5' image "$base" "$shared/cases/empty_file.h5" -o d.h5 -q "${picture[@]}"
refuses 3 '2880 of 2880\|2880 flagged' \
    image "$shared/cases/all_flagged.uvh5" -o d.h5 -q "${picture[@]}"
refuses 3 '--unit-weights' image "$shared/cases/nsamples_zero.uvh5" -o d.h5 -q "${picture[@]}"
refuses 4 'vram' image "$base" -o d.h5 -q "${picture[@]}" --vram 1K
refuses 4 'vram' image "$base" -o d.h5 -q "${picture[@]}" --vram 0
refuses 2 '\.fits, \.h5\|fits, h5\|extension' image "$base" -o d.jpg -q "${picture[@]}"
refuses 5 'no/such' image "$base" -o no/such/d.h5 -q "${picture[@]}"
refuses 2 'complex' image "$base" -o d.png -q "${picture[@]}" --complex
refuses 2 'channels' image "$base" -o d.h5 -q "${picture[@]}" --channels 3:99
refuses 2 'centre' image "$base" -o d.h5 -q "${picture[@]}" --centre 240deg,30deg
no_leftovers "what was refused"

# ---- standard output that cannot be written
"$program" image "$base" -o e.h5 "${picture[@]}" >/dev/full 2>.err
check "a full standard output leaves with 5" test $? -eq 5
check "and says so" grep -q '^sluice: cannot write to standard output' .err
rm -f e.h5
"$program" image "$base" -o e.h5 "${picture[@]}" >&- 2>.err
check "a closed standard output leaves with 5" test $? -eq 5
rm -f e.h5

# ---- interrupted: nothing under the final name, nothing else either
if accepts 'rows' simulate -o big.uvh5 --rows 15000 --channels 4; [[ $code -eq 0 ]]; then
    for signal in INT TERM; do
        "$program" image big.uvh5 -o f.h5 --size 2048 --scale 10asec --device host -q 2>.err &
        process=$!
        sleep 0.7
        kill -"$signal" $process
        wait $process
        check "SIG$signal leaves with 130" test $? -eq 130
        check "SIG$signal is one line" test "$(wc -l <.err)" -eq 1
        no_leftovers "SIG$signal" big.uvh5
    done
    "$program" simulate -o long.uvh5 --rows 50000000 -q 2>.err &
    process=$!
    sleep 0.7
    kill -INT $process
    wait $process
    check "an interrupted simulation leaves with 130" test $? -eq 130
    no_leftovers "an interrupted simulation" big.uvh5
    accepts 'suggestion *--size [0-9]* --scale [0-9.]*[a-z]*' info big.uvh5
    accepts '"scanned": true' info --json big.uvh5
    refuses 5 'big.uvh5 exists' simulate -o big.uvh5 -q
    # The same file for any number of threads.
    accepts '' simulate -o one.uvh5 --rows 3000 --noise 0.1 --seed 5 --threads 1 -q
    accepts '' simulate -o two.uvh5 --rows 3000 --noise 0.1 --seed 5 --threads 3 -q
    check "one thread or three: the same file" cmp one.uvh5 two.uvh5
    rm -f one.uvh5 two.uvh5
fi
rm -f big.uvh5

# ---- info
accepts 'uv range' info "$base"
for words in '180' '45 baselines' '10 antennas' '4 times' '8: 150 MHz to 157 MHz' 'XX, YY' '(0.00 %)'; do
    check "info lacks $words" grep -q "$words" .out
done
accepts '360 of 2880 (12.50 %)' info "$shared/cases/nan_flagged.uvh5"
accepts 'not read' info "$base" --no-scan
run info --json "$base"
cp .out json
check "rows in JSON" test "$(value rows)" = 180
check "samples in JSON" test "$(value samples)" = 1440
# Names are bytes, JSON is UTF-8.
cp "$base" $'base\xff.uvh5'
run info --json $'base\xff.uvh5'
cp .out json
check "JSON is UTF-8" test "$(value name | tail -c 14)" = $'base\xef\xbf\xbd.uvh5'
rm $'base\xff.uvh5'
refuses 3 'missing_filter.h5' info -q "$shared/cases/missing_filter.h5"
rm -f json
verdict
