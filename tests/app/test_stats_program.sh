#!/bin/bash
# `sluice stats` from outside: what is printed where, the keys of its JSON, the cases on archives, slices,
# budgets, exit codes.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"

stats() { # CODE PATTERN OPTION…: on a file that does not exist
    local wanted=$1 pattern=$2
    shift 2
    refuses "$wanted" "$pattern" stats nothing.h5:/x -q --device host "$@"
}

# ---- the command line
accepts 'usage: sluice stats' stats --help
refuses 2 'expected one array, found 0' stats
refuses 2 'expected one array, found 2' stats a.h5:/a b.h5:/b
refuses 2 "'a.h5' names no dataset" stats a.h5
for text in 1.5 -0.1 x '' 0.5, ,0.5 0.1,,0.2 nan; do
    stats 2 '^sluice: --quantiles' --quantiles "$text"
done
for text in 0 -1 x 1.5 10: 10:1 10:2:1 10:1:1 10:1:2:3 100000 10:nan:1 ''; do
    stats 2 '^sluice: --histogram' --histogram "$text"
done
stats 2 "^sluice: --part: 'phase' is no part: expected real, imag or abs" --part phase
stats 2 '^sluice: --png draws a histogram: add --histogram N' --png x.png
stats 2 'nothing.h5 is an input and an output' --histogram 5 --png nothing.h5
stats 2 'x.h5 is named for two outputs' --histogram 5 --png x.h5 --stats x.h5
stats 3 'nothing.h5'

# ---- the cases
need_shared cases/transpose.h5
cases=$shared/cases
common=(--device host --no-probe --no-progress)

# value FILE:/DATASET KEY VALUE [OPTION…]
value() {
    local data=$1 key=$2 wanted=$3 found
    shift 3
    run stats "$cases/$data" --json "${common[@]}" "$@"
    [[ $code -eq 0 ]] || fail "$data: left with $code: $(cat .err)"
    found=$(python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$key" <.out)
    check "$data: $key is $found, expected $wanted" [ "$found" = "$wanted" ]
}

value bigendian.h5:/i sum 5050
value bigendian.h5:/f sum 50.5
for name in ri realimag half; do
    value complex_names.h5:/$name sum '[4950, 4950]'
    value complex_names.h5:/$name sum 4950 --part imag
    value complex_names.h5:/$name max 99 --part real
done
value empty.h5:/zero count 0
value empty.h5:/zero sum 0
value empty.h5:/zero min None
value empty.h5:/scalar median 3
value empty.h5:/one count 1
value fill.h5:/x sum -1350
value filtermask.h5:/x sum 44850
value zstd_nosize.h5:/x sum 4950
value bigchunk.h5:/x sum 8796090925056 --vram 8M
value transpose.h5:/x median 498501 --vram 256K --ram 8M
value sum32.h5:/x sum 16782321
value sum32.h5:/ones sum 33554432
value scan_int32.h5:/x sum 2 --vram 64M --ram 256M --no-median
value sortnan.h5:/x nan 1
value sortnan.h5:/x inf 2
value sortnan.h5:/x median 0.5
value 'transpose.h5:/x[1:3, ::-1]' argmax 1003
value 'transpose.h5:/x[-1, -1]' max 997002
refuses 3 'needs filter 32999' stats "$cases/missing_filter.h5:/x" "${common[@]}"
refuses 3 'truncated.h5' stats "$cases/truncated.h5:/x" "${common[@]}"
refuses 3 'empty_file.h5' stats "$cases/empty_file.h5:/x" "${common[@]}"

# ---- the keys, in their order, and no others
accepts '"count": 100' stats "$cases/bigendian.h5:/i" --json -q "${common[@]}"
keys=$(python3 -c 'import json, sys; print(*json.load(sys.stdin))' <.out)
check "the keys are $keys" \
    [ "$keys" = 'count nan inf min max argmin argmax sum mean std median' ]
accepts '"0.25": 25.75' stats "$cases/bigendian.h5:/i" --json --quantiles 0.25 --histogram 4:1:101 \
    "${common[@]}"
check 'the counts' grep -q '"counts": \[25, 25, 25, 25\]' .out
accepts '"median": null' stats "$cases/bigendian.h5:/i" --json --no-median "${common[@]}"

# ---- for people
accepts '^max  *997002 at \[996, 1002\]$' stats "$cases/transpose.h5:/x" "${common[@]}"
accepts '^sum  *4950, 4950 i$' stats "$cases/complex_names.h5:/ri" "${common[@]}"
accepts '^min  *-inf at \[7\]$' stats "$cases/sortnan.h5:/x" "${common[@]}"
accepts '^histogram  *0 below, 0 above$' stats "$cases/bigendian.h5:/i" --histogram 3 "${common[@]}"
run stats "$cases/bigendian.h5:/i" --histogram 3 --png bars.png "${common[@]}"
if grep -q 'without libpng\|libpng-dev' .err; then
    echo "this build has no libpng: no picture"
else
    check 'a picture' [ "$(head -c 4 bars.png | tail -c 3)" = PNG ]
fi

# ---- the plan: its smallest budget works, one byte less is refused with the number
accepts 'smallest --vram' stats "$cases/transpose.h5:/x" --dry-run "${common[@]}" --ram 64M
smallest=$(sed -n 's/.*smallest --vram  *\([0-9]*\) bytes/\1/p' .out)
accepts '^median  *498501$' stats "$cases/transpose.h5:/x" --vram "$smallest" --ram 64M "${common[@]}"
run stats "$cases/transpose.h5:/x" --dry-run --json "${common[@]}" --ram 64M
check 'the plan as JSON' python3 -c 'import json; json.load(open(".out"))["plan"]["vram_smallest_bytes"]'
refuses 4 "smallest that works is --vram $smallest" stats "$cases/transpose.h5:/x" \
    --vram $((smallest - 1)) --ram 64M "${common[@]}"
accepts '' stats "$cases/transpose.h5:/x" --vram 64M --ram 64M "${common[@]}" --stats run.json
check 'a run names the smallest that works' grep -q "\"vram_smallest_bytes\": $smallest," run.json

# ---- nothing shows in the results: B44
accepts '' stats "$cases/transpose.h5:/x" --json --quantiles 0.1,0.9 --histogram 7 "${common[@]}"
cp .out wanted
for budget in '64M 64M 1' '1M 8M 2' '300K 8M 3' '40K 8M 2'; do
    read -r vram ram threads <<<"$budget"
    accepts '' stats "$cases/transpose.h5:/x" --json --quantiles 0.1,0.9 --histogram 7 "${common[@]}" \
        --vram "$vram" --ram "$ram" --threads "$threads" --stats stats.json --overwrite
    check "with $budget: other results" cmp -s .out wanted
done
check 'the statistics say how often it was read' grep -q '"passes": [2-8],' stats.json

verdict
