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
transpose=(transpose "$shared/cases/transpose.h5:/x" "${common[@]}")
echo 'l=0.01 m=-0.005 flux=1.5' >sky.txt
accepts '' simulate -o sim.uvh5 --array vla-d --rows 2000 --channels 2 --sky sky.txt -q
predict=(predict --model sky.txt sim.uvh5 "${common[@]}")

named() { # OPTION: the number after it in the last refusal
    sed -n "s/.*the smallest that works is [^;]*$1 \([0-9]*\).*/\1/p" .err
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

for extra in '' '--checkpoint k' '--trace t.json'; do
    read -ra more <<<"$extra"
    exact p.uvh5 "${predict[@]}" "${more[@]}"
done
exact t.h5:/x "${transpose[@]}"

# Threads take memory, and fewer of them less of it.
refuses 4 'works is --ram [0-9]*, less with fewer --threads; tiles of whole chunks fit from --ram [0-9]*$' "${transpose[@]}" -o t.h5:/x --ram 1
refuses 4 'works is --ram [0-9]*; tiles of whole chunks fit from --ram [0-9]*$' "${transpose[@]}" -o t.h5:/x --ram 1 --threads 1
refuses 4 'works is --vram [0-9]*, less with fewer --threads$' "${image[@]}" -o a.h5 --vram 1

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
