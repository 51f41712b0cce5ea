#!/bin/bash
# `sluice gather` from outside: names of datasets, what is printed where, what is left behind, exit codes,
# and that neither way nor budget nor threads show in the file.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"

gather() { # CODE PATTERN OPTION…: on files that do not exist
    local wanted=$1 pattern=$2
    shift 2
    refuses "$wanted" "$pattern" gather nothing.h5:/x -q --device host "$@"
}

# ---- the command line
accepts 'usage: sluice gather' gather --help
refuses 2 'expected one array, found 0' gather --index i.h5:/i -o o.h5:/v
refuses 2 'expected one array, found 2' gather a.h5:/a b.h5:/b --index i.h5:/i -o o.h5:/v
refuses 2 "'a.h5' names no dataset: expected FILE:/DATASET" gather a.h5 --index i.h5:/i -o o.h5:/v
gather 2 'no list is given: add --index' -o o.h5:/v
gather 2 "^sluice: --index: 'i.h5' names no dataset" --index i.h5
gather 2 "^sluice: -o: 'o.h5:v' names no dataset" -o o.h5:v
gather 2 'no output is given' --index i.h5:/i
gather 2 "^sluice: --sparse: 'disk' is no place for data" --index i.h5:/i -o o.h5:/v --sparse disk
gather 2 "^sluice: --axis: '8'" --index i.h5:/i -o o.h5:/v --axis 8
gather 2 '^sluice: --axis 1: with --coordinates every dimension is indexed' --index i.h5:/i -o o.h5:/v \
    --coordinates --axis 1
gather 2 'nothing.h5 is an input and an output' --index i.h5:/i -o nothing.h5:/v
gather 2 'i.h5 is an input and an output' --index i.h5:/i -o ./i.h5:/v
gather 2 'o.h5 is named for two outputs' --index i.h5:/i -o o.h5:/v --stats o.h5
gather 3 'nothing.h5: cannot be opened' --index i.h5:/i -o o.h5:/v

need_shared cases/transpose.h5
need_shared cases/bigendian.h5
data=$shared/cases/transpose.h5:/x
list=$shared/cases/bigendian.h5:/i
options=(--index "$list" --device host --no-probe)

# ---- values: x[r, c] = 1000 r + c, and the list is 1 to 100
values() { # FILE: every number in it, one a line
    python3 -c '
import re, subprocess, sys
text = subprocess.run(["h5dump", "-d", "/v", "-y", "-w", "1", sys.argv[1]], check=True,
                      capture_output=True, text=True).stdout
print("\n".join(re.findall(r"^ +(-?\d+),?$", text, re.M)))' "$1"
}
for axis in 0 1; do
    accepts '^gathered 100 indices' gather "$data" -o "out$axis.h5:/v" --axis $axis "${options[@]}"
    python3 -c '
import sys
rows, columns = (range(1, 101), range(1003)) if sys.argv[1] == "0" else (range(997), range(1, 101))
for r in rows:
    for c in columns:
        print(1000 * r + c)' $axis >wanted
    if command -v h5dump >/dev/null; then
        values "out$axis.h5" >found
        check "the values along axis $axis" cmp -s wanted found
    fi
done

# ---- nothing shows in the file but the values: B44
for sparse in resident mapped streamed; do
    for budget in '64M 64M 1' '1M 16M 2' '300K 16M 3'; do
        read -r vram ram threads <<<"$budget"
        [[ $sparse == resident && $vram != 64M ]] && continue
        accepts "data $sparse" gather "$data" -o again.h5:/v --axis 1 "${options[@]}" --overwrite \
            --sparse $sparse --vram "$vram" --ram "$ram" --threads "$threads"
        check "$sparse with $budget: other bytes" cmp -s again.h5 out1.h5
    done
done
for i in 1 2 3 4 5 6 7 8 9 10; do
    accepts '' gather "$data" -o again.h5:/v "${options[@]}" --overwrite --sparse streamed \
        --vram 1200K -q
    check "run $i: other bytes" cmp -s again.h5 out0.h5
done
check "left behind: $(ls)" test "$(ls | sort | tr '\n' ' ')" = 'again.h5 found out0.h5 out1.h5 wanted '

# ---- plan and statistics
accepts 'data is  *streamed, as --sparse asks' gather "$data" "${options[@]}" --dry-run \
    --sparse streamed
check "the plan names the smallest budget" grep -q 'smallest --vram  *[0-9]* bytes' .out
smallest=$(sed -n 's/.*smallest --vram  *\([0-9]*\) bytes/\1/p' .out)
accepts '' gather "$data" -o s.h5:/v "${options[@]}" --sparse streamed --vram "$smallest"
check "the smallest budget: other bytes" cmp -s s.h5 out0.h5
refuses 4 "the smallest that works is --vram $smallest" gather "$data" -o t.h5:/v "${options[@]}" \
    --sparse streamed --vram $((smallest - 1))
accepts '^{' gather "$data" -o t.h5:/v "${options[@]}" --stats - --vram 64M
python3 - <<'END' || fail "the statistics"
import json
stats = json.load(open(".out"))
for key in ("device context_bytes vram_limit_bytes vram_peak_bytes ram_limit_bytes host_peak_bytes "
            "pageable_bytes mapped_bytes tiles passes slots chunks_read chunks_decoded bytes_stored "
            "bytes_read bytes_tier bytes_h2d bytes_d2h bytes_written overlap bottleneck").split():
    assert key in stats, key
for key in "total check gather read h2d kernel d2h write".split():
    assert key in stats["seconds"], key
plan = stats["plan"]
for key in ("tile order tiles passes slots vram_peak_bytes vram_smallest_bytes ram_smallest_bytes "
            "bytes_read bytes_h2d bytes_d2h seconds bottleneck touches placements").split():
    assert key in plan, key
assert stats["indices"] == 100 and stats["shape"] == [100, 1003] and stats["dtype"] == "i4"
assert stats["placement"] in ("resident", "streamed", "mapped") and stats["placement_why"]
assert stats["vram_peak_bytes"] == plan["vram_peak_bytes"] <= stats["vram_limit_bytes"] == 64 << 20
assert stats["bytes_read"] == plan["bytes_read"] and stats["bytes_h2d"] == plan["bytes_h2d"]
assert 0 < plan["tile_share"] <= 1 # tiles without an index are passed over, by the plan too
assert plan["tile_share"] == 1 or stats["placement"] == "streamed"
assert stats["bytes_written"] == 4 * 100 * 1003
assert set(plan["placements"]) == {"resident", "streamed", "mapped"}
END

# ---- refusals of real files
refuses 3 '/y is missing; the datasets in it are /x' gather "$shared/cases/transpose.h5:/y" \
    -o u.h5:/v "${options[@]}"
refuses 3 'needs filter 32999' gather "$shared/cases/missing_filter.h5:/x" -o u.h5:/v "${options[@]}"
refuses 3 'bigendian.h5:/i: \[99\] is 100, expected 0 to 99 (dimension 0 of ' \
    gather "$list" -o u.h5:/v "${options[@]}"
refuses 3 'indices must be integers, found f8' gather "$data" -o u.h5:/v \
    --index "$shared/cases/bigendian.h5:/f"
refuses 3 'has no elements and no shape' gather "$shared/cases/empty.h5:/null" -o u.h5:/v \
    "${options[@]}"
refuses 3 'is a single value' gather "$shared/cases/empty.h5:/scalar" -o u.h5:/v "${options[@]}"
refuses 3 'dimension 0 of .* has no elements' gather "$shared/cases/empty.h5:/zero" -o u.h5:/v \
    "${options[@]}"
refuses 5 'out0.h5 exists; overwriting' gather "$data" -o out0.h5:/v "${options[@]}"
refuses 5 'make it first' gather "$data" -o none/out0.h5:/v "${options[@]}"
check "a refusal left a file" test ! -e u.h5

verdict
