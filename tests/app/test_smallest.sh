#!/bin/bash
# The smallest --ram and --vram that a refusal or a dry run names: with them the job runs, with one byte less
# it does not, whatever else takes memory (checkpoint, trace, weights).
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"

need_shared cases/base.uvh5
need_shared cases/transpose.h5
need_shared cases/bigendian.h5
common=(--device host --no-probe -q --overwrite --threads 2)
image=(image "$shared/cases/base.uvh5" --size 100 --scale 0.002rad "${common[@]}")
gather=(gather "$shared/cases/transpose.h5:/x" --index "$shared/cases/bigendian.h5:/i" "${common[@]}")
repack=(repack "$shared/cases/transpose.h5:/x" --chunk 50,70 --filter deflate:2 "${common[@]}")
echo 'l=0.01 m=-0.005 flux=1.5' >sky.txt
accepts '' simulate -o sim.uvh5 --array vla-d --rows 2000 --channels 2 --sky sky.txt -q
predict=(predict --model sky.txt sim.uvh5 "${common[@]}")

named() { # OPTION: the number after it in the last refusal
    sed -n "s/.*the smallest that works is .*$1 \([0-9]*\).*/\1/p" .err
}

# exact OUTPUT ARGUMENT…: the smallest --ram, from a refusal of next to nothing and from a dry run
exact() {
    local out=$1 small least
    shift
    for small in 1 1K; do
        run "$@" -o "$out" --ram $small
        check "--ram $small with $*: exit code $code" test "$code" -eq 4
        least=$(named --ram)
        check "--ram $small with $*: $(cat .err)" test -n "$least"
    done
    accepts '' "$@" -o "$out" --ram "${least:-0}"
    refuses 4 "the smallest that works is --ram $least" "$@" -o "$out" --ram $((least - 1))
    accepts "smallest --ram  *$least bytes" "$@" --dry-run --ram "$least"
    run "$@" --dry-run --ram $((least - 1))
    check "a dry run of $* with one byte less: exit code $code" test "$code" -eq 4
}
for extra in '' '--checkpoint k' '--report r.html' '--trace t.json --checkpoint k'; do
    read -ra more <<<"$extra"
    exact a.h5 "${image[@]}" "${more[@]}"
    exact a.h5 "${image[@]}" --weight uniform "${more[@]}"
    exact g.h5:/v "${gather[@]}" "${more[@]}"
    exact g.h5:/v "${gather[@]}" --sparse mapped "${more[@]}"
done
exact g.h5:/v "${gather[@]}" --chunk 7,50 --filter deflate:2
exact r.h5:/v "${repack[@]}" --checkpoint k
check "a refused run left files of a checkpoint" test ! -e k -a ! -e k.journal

# A prediction holds some of its memory before it plans. There the sum so far is named, which leads to the
# smallest that works in as many steps as it holds things.
for extra in '' '--checkpoint k' '--trace t.json'; do
    read -ra more <<<"$extra"
    ram=1K
    for step in 1 2 3 4 5 6; do
        run "${predict[@]}" -o p.uvh5 --ram $ram "${more[@]}"
        [[ $code -eq 0 ]] && break
        check "step $step, --ram $ram: $(cat .err)" test "$code" -eq 4
        ram=$(sed -n 's/.* --ram \([0-9]*\).*/\1/p' .err)
        check "step $step names a --ram: $(cat .err)" test -n "$ram"
    done
    check "a prediction with --ram $ram: exit code $code" test "$code" -eq 0
    refuses 4 "the smallest that works is --ram $ram" "${predict[@]}" -o p.uvh5 --ram $((ram - 1)) \
        "${more[@]}"
    accepts "smallest --ram  *$ram bytes" "${predict[@]}" --dry-run --ram "$ram" "${more[@]}"
done

# Where both are too small both are named, and work together.
run "${image[@]}" -o a.h5 --ram 100K --vram 1 --checkpoint k
vram=$(named --vram)
ram=$(named --ram)
check "both budgets: $(cat .err)" test -n "$vram" -a -n "$ram"
accepts '' "${image[@]}" -o a.h5 --ram "${ram:-0}" --vram "${vram:-0}" --checkpoint k

# ---- of all ways to treat the data the one that needs the least
for sparse in auto resident mapped streamed; do
    accepts 'smallest --vram' "${gather[@]}" --dry-run --sparse $sparse --vram 64M
    vram=$(sed -n 's/.*smallest --vram  *\([0-9]*\) bytes/\1/p' .out)
    accepts '' "${gather[@]}" -o g.h5:/v --sparse $sparse --vram "$vram"
    refuses 4 "the smallest that works is --vram $vram" "${gather[@]}" -o g.h5:/v --sparse $sparse \
        --vram $((vram - 1))
done

verdict
