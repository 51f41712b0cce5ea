#!/bin/bash
# The cases of the shared data that concern archives, by every job that reads arrays: what each must give
# is stated with the case, and what is written is read back by HDF5's own tools. tests/README.md says
# which case is tested where; test_cases_slow.sh has what takes longer.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"
need_shared cases/transpose.h5
cases=$shared/cases
common=(--device host --no-probe --no-progress --threads 2 --ram 256M)
write=("${common[@]}" -q --overwrite)

# member KEY FILE: of the JSON in a file.
member() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[2]))[sys.argv[1]])' "$1" "$2"
}

# stats_are WHAT FILE:/DATASET KEY VALUE…: those members of what `sluice stats` prints.
stats_are() {
    local what=$1 data=$2 wrong
    shift 2
    run stats "$data" --json "${common[@]}"
    [[ $code -eq 0 ]] || fail "$what: left with $code: $(cat .err)"
    wrong=$(python3 -c '
import json, sys
found = json.load(open(".out"))
for key, value in zip(sys.argv[1::2], sys.argv[2::2]):
    if str(found[key]) != value:
        print(f"{key} is {found[key]}, expected {value}", end="; ")' "$@")
    check "$what: $wrong" [ -z "$wrong" ]
}

# Every number of a dataset as h5dump prints it, one a line. Without h5dump nothing is compared.
dump() { # FILE DATASET
    h5dump -d "$2" -y -w 1 -m '%.17g' "$1" 2>.dump | python3 -c '
import re, sys
text = sys.stdin.read()
print("\n".join(re.findall(r"^ +(-?[0-9][0-9.e+-]*|-?nan|-?inf),?$", text, re.M)))'
}
has_h5dump=false
if command -v h5dump >/dev/null; then has_h5dump=true; fi

# rewritten FILE:/DATASET KEY VALUE…: repacked and transposed the array is as it was, for Sluice and, with
# the numbers that `dump` gives for it, for HDF5.
rewritten() {
    local data=$1 command
    shift
    for command in repack transpose; do
        accepts '' $command "$cases/$data" -o r.h5:/v "${write[@]}"
        stats_are "$command of $data" r.h5:/v "$@"
        if $has_h5dump && [[ $data != complex* && $data != zstd* ]]; then
            dump "$cases/${data%%:*}" "${data#*:}" >before
            dump r.h5 /v >after
            check "$command of $data: other numbers for h5dump" cmp -s before after
            check "$command of $data: h5dump finds none" [ -s after ]
        fi
    done
}

# ---- B23, B25, B27, B28, B30, B50: types, forms and what is not stored
rewritten bigendian.h5:/i count 100 sum 5050 min 1 max 100
rewritten bigendian.h5:/f count 101 sum 50.5 max 1
for name in ri realimag half; do
    rewritten complex_names.h5:/$name count 100 sum '[4950, 4950]'
    stats_are "the real parts of $name" "r.h5:/v[:3]" sum '[3, 294]'
done
rewritten fill.h5:/x count 1000 sum -1350 min -7 max 99
rewritten filtermask.h5:/x count 300 sum 44850
rewritten zstd_nosize.h5:/x count 100 sum 4950 max 99
rewritten sum32.h5:/x sum 16782321
rewritten sortnan.h5:/x nan 1 inf 2 median 0.5
if $has_h5dump; then
    # Stock HDF5 has no zstd, so without --filter the result has what it can read.
    accepts '' repack "$cases/zstd_nosize.h5:/x" -o r.h5:/v "${write[@]}"
    check 'B30: h5dump reads what comes of zstd' cmp -s <(seq 0 99) <(dump r.h5 /v)
fi
accepts '' gather "$cases/bigendian.h5:/f" --index "$cases/zstd_nosize.h5:/x" -o g.h5:/v "${write[@]}"
stats_are 'B23, B30: numbers and list' g.h5:/v count 100 max 0.99 sum 49.5
accepts '' gather "$cases/fill.h5:/x" --index "$cases/filtermask.h5:/x" -o g.h5:/v "${write[@]}"
stats_are 'B27, B28: numbers and list' g.h5:/v count 300 sum $((4950 - 7 * 200))
for name in ri realimag half; do
    accepts '' gather "$cases/complex_names.h5:/$name" --index "$cases/zstd_nosize.h5:/x" -o g.h5:/v \
        "${write[@]}"
    stats_are "B25: $name" g.h5:/v count 100 sum '[4950, 4950]'
done
run stats "$cases/fill.h5:/x" --stats s.json "${common[@]}"
check 'B27: one chunk of ten is stored and decoded' [ "$(member bytes_stored s.json)" -gt 0 ]
accepts '' repack "$cases/sum32.h5:/ones" -o r.h5:/v --chunk none "${write[@]}"
stats_are 'B50: 2^25 ones, written' r.h5:/v sum 33554432

# ---- B50: the same bits for any budget
for budget in '64M 1' '300K 2' '64K 3'; do
    read -r vram threads <<<"$budget"
    for data in sum32.h5:/x bigendian.h5:/f tallchunk.h5:/x; do
        accepts '' stats "$cases/$data" --json --device host --no-probe -q --ram 64M --vram "$vram" \
            --threads "$threads"
        cp .out "now.json"
        name=${data//[\/:]/_}.json
        [[ -e $name ]] || cp now.json "$name"
        check "B50: $data with --vram $vram: other bits" cmp -s now.json "$name"
    done
done

# ---- B26, B43: nothing, and no shape
for command in repack transpose; do
    accepts '' $command "$cases/empty.h5:/zero" -o r.h5:/v "${write[@]}"
    stats_are "B26: $command of nothing" r.h5:/v count 0 sum 0 min None max None median None
    accepts '' $command "$cases/empty.h5:/scalar" -o r.h5:/v "${write[@]}"
    stats_are "B26: $command of one number" r.h5:/v count 1 sum 3
    accepts '' $command "$cases/empty.h5:/one" -o r.h5:/v "${write[@]}"
    stats_are "B26: $command of one element" r.h5:/v count 1 sum 0
    refuses 3 '/null has no elements and no shape' $command "$cases/empty.h5:/null" -o n.h5:/v \
        "${write[@]}"
    accepts '' $command "$cases/transpose.h5:/x[5:5]" -o r.h5:/v "${write[@]}"
    stats_are "B43: $command of no rows" r.h5:/v count 0
done
if $has_h5dump; then
    accepts '' repack "$cases/empty.h5:/zero" -o r.h5:/v "${write[@]}"
    h5dump -H r.h5 >.dump
    check 'B26: shape and type of nothing' grep -q '( 0, 64 )' .dump
    check 'B26: shape and type of nothing' grep -q H5T_IEEE_F32LE .dump
fi
refuses 3 '/null has no elements and no shape' stats "$cases/empty.h5:/null" "${common[@]}" -q
stats_are 'B43: no rows' "$cases/transpose.h5:/x[5:5, :]" count 0 sum 0 min None argmin None
accepts '^min  *none$' stats "$cases/empty.h5:/zero" "${common[@]}"
accepts '^max  *none$' stats "$cases/empty.h5:/zero" "${common[@]}"
refuses 3 'no row\|no visibilit\|no data\|nothing' image "$cases/base.uvh5" -o n.h5 --size 16 \
    --scale 0.002rad --uv-range 1000000: "${common[@]}" -q
accepts '(39, 49)' image "$cases/irregular_blts.uvh5" -o i.h5 --size 128 --scale 0.002rad \
    "${common[@]}" --vram 1M

# ---- B32, B33: what cannot be read is named, and leaves nothing
for command in stats repack transpose gather; do
    more=()
    [[ $command == stats ]] || more=(-o n.h5:/v)
    [[ $command == gather ]] && more+=(--index "$cases/bigendian.h5:/i")
    refuses 3 'dataset /x needs filter 32999 (unknown), not available; HDF5_PLUGIN_PATH=' $command \
        "$cases/missing_filter.h5:/x" "${more[@]}" "${common[@]}" -q
    refuses 3 'truncated.h5: truncated: 43734 bytes found, 87469 expected' $command \
        "$cases/truncated.h5:/x" "${more[@]}" "${common[@]}" -q
    refuses 3 'empty_file.h5: the file is empty: 0 bytes found' $command \
        "$cases/empty_file.h5:/x" "${more[@]}" "${common[@]}" -q
done
refuses 3 'truncated.h5: truncated' gather "$cases/transpose.h5:/x" -o n.h5:/v --index \
    "$cases/truncated.h5:/x" "${common[@]}" -q
refuses 3 'truncated.h5: truncated' image "$cases/base.uvh5" "$cases/truncated.h5" -o n.h5 --size 16 \
    --scale 0.002rad "${common[@]}" -q
check 'a refusal leaves a file' [ ! -e n.h5 ]
if command -v h5copy >/dev/null; then
    h5copy -i "$cases/missing_filter.h5" -o two.h5 -s /x -d /bad &&
        h5copy -i "$cases/fill.h5" -o two.h5 -s /x -d /good
    stats_are 'B32: the other dataset of the file' two.h5:/good sum -1350
    refuses 3 'dataset /bad needs filter 32999' stats two.h5:/bad "${common[@]}" -q
fi

# ---- B37, B47: how often chunks are decoded
for vram in 300K 80K; do
    accepts '' stats "$cases/tallchunk.h5:/x" --no-median --vram $vram --stats s.json "${common[@]}" \
        --overwrite
    check "B37: --vram $vram makes 16 tiles or more" [ "$(member tiles s.json)" -ge 16 ]
    check "B37: chunks read by stats with --vram $vram" [ "$(member chunks_read s.json)" -eq 32 ]
    check "B37: chunks decoded by stats with --vram $vram" [ "$(member chunks_decoded s.json)" -eq 32 ]
    for command in repack transpose; do
        accepts '' $command "$cases/tallchunk.h5:/x" -o r.h5:/v --vram $vram --stats s.json \
            "${write[@]}" --threads 1
        check "B37: chunks decoded by $command with --vram $vram" \
            [ "$(member chunks_decoded s.json)" -eq 32 ]
    done
    stats_are "B37: written with --vram $vram" r.h5:/v count 1048576 sum 549755289600
done
accepts '' transpose "$cases/transpose.h5:/x" -o r.h5:/v --vram 256K --device host --no-probe \
    --threads 2 --ram 8M -q --overwrite --stats s.json
check 'B47: no chunk of 100 is read more than twice' [ "$(member chunks_read s.json)" -le 200 ]
check 'B47: the device keeps to --vram' [ "$(member vram_peak_bytes s.json)" -le 262144 ]
check 'B47: the host keeps to --ram' [ "$(member host_peak_bytes s.json)" -le 8388608 ]
if $has_h5dump; then
    # out[c, r] = 1000 r + c
    python3 -c '
for c in range(1003):
    for r in range(997):
        print(1000 * r + c)' >wanted
    check 'B47: the values' cmp -s wanted <(dump r.h5 /v)
fi

# ---- B39, B40: budgets
accepts '' repack "$cases/bigchunk.h5:/x" -o r.h5:/v --vram 8M --chunk 64,4096 --stats s.json "${write[@]}"
check 'B40: the device keeps to --vram 8M' [ "$(member vram_peak_bytes s.json)" -le 8388608 ]
stats_are 'B40: the chunk of 16 MiB, cut up' r.h5:/v sum 8796090925056
# ---- B48: past 2^32 elements, in the last of which stands one of the two that are not 0
stats_are 'B48: the last elements' "$cases/scan_int32.h5:/x[4294967290:]" count 7 sum 1 argmax 6
stats_are 'B48: the first elements' "$cases/scan_int32.h5:/x[:10]" sum 1 argmax 1
stats_are 'B48: backwards' "$cases/scan_int32.h5:/x[:4294967290:-1]" sum 1 argmax 0 count 6
accepts '' repack "$cases/scan_int32.h5:/x[4294967040:]" -o r.h5:/v "${write[@]}"
stats_are 'B48: a part, written' r.h5:/v count 257 sum 1 argmax 256

verdict
