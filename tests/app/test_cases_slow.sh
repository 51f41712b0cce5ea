#!/bin/bash
# Cases of the shared data on archives that take many runs or many tiles: the smallest budgets that a
# chunk larger than them allows, a disk that is full, and a hundred runs of one job.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"
need_shared cases/transpose.h5
cases=$shared/cases

# ---- B40: of what is refused the smallest that works is named; with less it is refused. At that size
# a chunk is decoded for tile after tile, so that small arrays run with it and the large one with some more.
smallest_ram() { # DO_RUN ARGUMENT…
    local does_run=$1 ram
    shift
    refuses 4 'the smallest that works is .*--ram' "$@" --ram 1K
    ram=$(sed -n 's/.*the smallest that works is [^;]*--ram \([0-9]*\).*/\1/p' .err)
    refuses 4 "the smallest that works is .*--ram $ram" "$@" --ram $((ram - 1))
    accepts 'smallest --ram' "$@" --ram "$ram" --dry-run
    if $does_run; then
        accepts '' "$@" --ram "$ram"
    else
        accepts '' "$@" --ram $((2 * ram))
    fi
}
more=(--device host --no-probe -q --overwrite --threads 1 --vram 8M)
smallest_ram false stats "$cases/bigchunk.h5:/x" "${more[@]}"
smallest_ram true stats "$cases/filtermask.h5:/x" "${more[@]}"
for command in repack transpose; do
    smallest_ram false $command "$cases/bigchunk.h5:/x" -o r.h5:/v "${more[@]}"
    smallest_ram true $command "$cases/filtermask.h5:/x" -o r.h5:/v "${more[@]}"
done
smallest_vram() { # ARGUMENT…: as the plan names it
    local vram
    accepts 'smallest --vram' "$@" --dry-run
    vram=$(sed -n 's/.*smallest --vram  *\([0-9]*\) bytes/\1/p' .out)
    accepts '' "$@" --vram "${vram:-0}"
    refuses 4 "the smallest that works is --vram $vram" "$@" --vram $((vram - 1))
}
more=(--device host --no-probe -q --overwrite --threads 1 --ram 256M)
smallest_vram stats "$cases/bigchunk.h5:/x" "${more[@]}"
for command in repack transpose; do
    smallest_vram $command "$cases/filtermask.h5:/x" -o r.h5:/v "${more[@]}"
    smallest_vram $command "$cases/complex_names.h5:/half" -o r.h5:/v --chunk 7 "${more[@]}"
done

# ---- B44: a hundred runs of one job with small tiles and several threads give one file
for k in {1..100}; do
    accepts '' transpose "$cases/transpose.h5:/x" -o "t.h5:/v" --chunk 64,64 --vram $((60 + k % 7 * 30))K \
        --ram 64M --threads $((1 + k % 4)) --device host --no-probe -q --overwrite
    [[ -e first.h5 ]] || cp t.h5 first.h5
    check "B44: run $k wrote other bytes" cmp -s t.h5 first.h5
done

# ---- B36: a result of 16 MiB, or of what its compressed chunks take, where files end at 256 KiB
for filter in none deflate:1; do
    for command in repack transpose; do
        (
            ulimit -f 256
            trap '' XFSZ
            "$program" $command "$cases/bigchunk.h5:/x" -o full.h5:/v --filter $filter --device host \
                --no-probe -q --vram 1M --ram 256M --chunk 64,256 >.out 2>.err
        )
        code=$?
        n_checks=$((n_checks + 1))
        [[ $code -eq 5 ]] || fail "B36: $command --filter $filter left with $code: $(cat .err)"
        check "B36: one line: $(cat .err)" [ "$(wc -l <.err)" -eq 1 ]
        check "B36: it says why: $(cat .err)" grep -qi 'file too large\|ulimit -f' .err
        check 'B36: something is left behind' [ -z "$(ls | grep full)" ]
    done
done

verdict
