#!/bin/bash
# `sluice transpose` and `sluice repack` from outside: the command line, what is printed where, exit
# codes, that neither budget nor threads show in the file, and runs that are killed and resumed.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"

job() { # CODE PATTERN COMMAND OPTION…: on a file that does not exist
    local wanted=$1 pattern=$2 command=$3
    shift 3
    refuses "$wanted" "$pattern" "$command" 'nothing.h5:/x[::2]' -q --device host "$@"
}

# refuses_limited CODE PATTERN ARGUMENT…: with files of 140 KiB at most.
refuses_limited() {
    local whole=$program
    printf '#!/bin/bash\nulimit -f 140\nexec %q "$@"\n' "$whole" >.limited
    chmod +x .limited
    program=$work/.limited
    refuses "$@"
    program=$whole
}

# ---- the command line
for command in transpose repack; do
    accepts "usage: sluice $command" $command --help
    refuses 2 'expected one array, found 0' $command -o o.h5:/v
    refuses 2 "'a.h5' names no dataset" $command a.h5 -o o.h5:/v
    refuses 2 "slice '\[x\]': character 2, 'x'" $command 'a.h5:/a[x]' -o o.h5:/v
    job 2 'no output is given' $command
    job 2 "^sluice: -o: 'o.h5:/v\[1\]': a slice cannot stand here" $command -o 'o.h5:/v[1]'
    job 2 "^sluice: --chunk: '4,0': '0' is out of range: .* 1 to" $command -o o.h5:/v --chunk 4,0
    job 2 "^sluice: --chunk: '4,5000000000': '5000000000' is out of range: .* 1 to 4294967295" \
        $command -o o.h5:/v --chunk 4,5000000000
    job 2 '^sluice: --chunk: ' $command -o o.h5:/v --chunk 4,,4
    job 2 "^sluice: --filter: 'gzip' is no filter; expected none" $command -o o.h5:/v --filter gzip
    job 2 "'deflate:10': expected deflate:N with N from 1 to 9" $command -o o.h5:/v \
        --filter deflate:10
    job 2 'nothing.h5 is an input and an output' $command -o nothing.h5:/v
    job 2 'o.h5 is named for two outputs' $command -o o.h5:/v --stats o.h5
    job 3 'nothing.h5: cannot be opened' $command -o o.h5:/v
done
job 2 "^sluice: --axes: '0,a': 'a' is no dimension" transpose -o o.h5:/v --axes 0,a
job 2 "^sluice: --axes: '0,1,2,3,4,5,6,7,0' names more than 8" transpose -o o.h5:/v \
    --axes 0,1,2,3,4,5,6,7,0
job 2 "^sluice: --dtype: 'float' is no type: expected i1 " repack -o o.h5:/v --dtype float
job 2 "^sluice: --dtype: 'c128' is no type: .* mean c16 (or complex128)" repack -o o.h5:/v --dtype c128
job 2 "^sluice: --dtype: '>f32' is no type: .* mean f4 (or float32)" repack -o o.h5:/v --dtype '>f32'
job 3 'nothing.h5: cannot be opened' repack -o o.h5:/v --dtype '>complex128'

need_shared cases/transpose.h5
data=$shared/cases/transpose.h5:/x
options=(-q --device host --no-probe)
refuses 2 '2 is no dimension' transpose "$data" -o o.h5:/v --axes 0,2 "${options[@]}"
refuses 2 'index 997 in dimension 0 .*997 x 1003' transpose "$data[997]" -o o.h5:/v "${options[@]}"
refuses 3 'element \[0, 128\] is 128, which i1 cannot hold; .*--saturate to take the nearest' repack "$data" \
    -o o.h5:/v --dtype i1 --threads 1 "${options[@]}"
check "a refused run leaves a file" [ ! -e o.h5 ]

# ---- B47: nothing shows in the file but the values
accepts '^transposed 999991 elements of i4, 3.81 MiB' transpose "$data" -o whole.h5:/v \
    --chunk 64,997 --filter none --device host --no-probe --vram 64M --ram 256M
for budget in '256K 8M' '256K 5M' '1M 64M' '40K 16M'; do
    read -r vram ram <<<"$budget"
    for threads in 1 3; do
        accepts '' transpose "$data" -o part.h5:/v --chunk 64,997 --filter none --vram "$vram" --ram "$ram" \
            --threads $threads --overwrite --stats part.json "${options[@]}"
        check "--vram $vram --ram $ram --threads $threads: other bytes" cmp -s whole.h5 part.h5
    done
done
# There and back.
accepts '' transpose whole.h5:/v -o back.h5:/x --chunk none "${options[@]}" --vram 128K
accepts '' repack "$data" -o plain.h5:/x --chunk none "${options[@]}" --vram 1M
check "there and back is not the same" cmp -s back.h5 plain.h5

# ---- filters: budgets, threads and a second pass do not show, and the values are the same
for filter in deflate:1 zstd:1 bitshuffle-zstd:1; do
    how=(-o filtered.h5:/v --filter "$filter" --overwrite)
    accepts "stored in .* by $filter (ratio" transpose "$data" "${how[@]}" --chunk 64,500 --vram 64M \
        --ram 256M --device host --no-probe
    mv filtered.h5 first.h5
    for budget in '256K 32M 1' '256K 16M 2' '40K 64M 3'; do
        read -r vram ram threads <<<"$budget"
        accepts '' transpose "$data" "${how[@]}" --chunk 64,500 --vram "$vram" --ram "$ram" \
            --threads "$threads" "${options[@]}"
        check "$filter, --vram $vram --ram $ram --threads $threads: other bytes" \
            cmp -s first.h5 filtered.h5
    done
    accepts '' transpose filtered.h5:/v -o back.h5:/x --chunk none --overwrite "${options[@]}"
    check "$filter: there and back is not the same" cmp -s back.h5 plain.h5
done
refuses 2 '--filter zstd:3 and --chunk none contradict each other' repack "$data" -o o.h5:/v \
    --filter zstd --chunk none "${options[@]}"
accepts 'its chunks are *zstd:19' repack "$data" --dry-run --filter zstd:19 --device host --no-probe

# ---- B36: a limit on the size of files
for filter in none deflate:1; do
    [[ $filter = none ]] && why='this process may write files of at most 143360' || why='File too large'
    refuses_limited 5 "$why" repack "$data" -o limited.h5:/v --chunk 1,1003 --filter "$filter" \
        "${options[@]}"
    check "a run that ran out of room leaves a file" [ ! -e limited.h5 ]
    check "a run that ran out of room leaves something" [ -z "$(find . -name 'limited*')" ]
done

# ---- what is printed and written
accepts 'passes *2, no tile that fits holds whole chunks' transpose "$data" --dry-run --vram 256K \
    --chunk 64,997 --device host --no-probe --ram 64M
accepts '"passes": 2' transpose "$data" -o o.h5:/v --chunk 64,997 --vram 256K --stats - \
    "${options[@]}" --ram 64M --trace t.json --report r.html
check "the statistics are no JSON" python3 -m json.tool .out /dev/null
check "the trace is no JSON" python3 -m json.tool t.json /dev/null
check "there is no page" grep -q 'sluice transpose' r.html
refuses 4 'the smallest that works is --vram' transpose "$data" -o p.h5:/v --vram 100 \
    "${options[@]}"

# ---- killed at random moments, in either pass
"$program" transpose "$data" -o none.h5:/v --checkpoint none >.out 2>.err
if grep -q 'without xxHash' .err; then
    echo "this build has no xxHash, and so no checkpoints: not run"
else
    n_killed=0
    for k in {1..25}; do
        "$program" transpose "$data" -o broken.h5:/v --chunk 64,997 --filter none --device host --no-probe \
            --vram $((100 + RANDOM % 200))K --ram $((6 + RANDOM % 20))M --threads $((1 + k % 3)) \
            --overwrite --checkpoint ck --every 1ms --resume --no-progress >broken.out 2>broken.err &
        pid=$!
        sleep "0.0$((10 + RANDOM % 80))"
        kill -KILL $pid 2>/dev/null
        wait $pid 2>/dev/null
        code=$?
        n_checks=$((n_checks + 1))
        if [[ $code -eq 137 ]]; then
            n_killed=$((n_killed + 1))
        elif [[ $code -eq 0 ]]; then
            check "a resumed run wrote other bytes" cmp -s whole.h5 broken.h5
        else
            fail "a resumed run left with $code: $(cat broken.err)"
        fi
    done
    accepts '' transpose "$data" -o broken.h5:/v --chunk 64,997 --filter none "${options[@]}" --vram 150K --ram 16M \
        --overwrite --checkpoint ck --resume
    check "the last run wrote other bytes" cmp -s whole.h5 broken.h5
    check "the checkpoint is still there" [ ! -e ck ]
    echo "$n_killed runs killed"
fi

verdict
