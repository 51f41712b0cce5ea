#!/bin/bash
# `sluice predict` from outside: a simulated sky comes back, a picture can be a model, neither budget nor
# place of the image shows in the file, what is printed where, what is left behind, exit codes.
# shellcheck source=tests/app/support_program.sh
source "$(dirname "$0")/support_program.sh"

options=(--device host --no-probe)

cat >sky.txt <<'END'
l=0.01 m=-0.005 flux=1.5
l=-0.004 m=0.009 flux=0.5 major=60 minor=30 pa=40 index=-0.7
END
accepts '' simulate -o sim.uvh5 --array vla-d --rows 2000 --channels 2 --sky sky.txt -q

# ---- a list: what the simulator made, to single precision, and nothing else has changed
accepts '^predicted 4000 samples of 2 components (2 Jy) in RR, LL' predict --model sky.txt sim.uvh5 \
    -o out.uvh5 "${options[@]}"
check "something was said" test ! -s .err
if command -v h5diff >/dev/null; then
    check "the set differs: $(h5diff --delta=2e-6 sim.uvh5 out.uvh5)" \
        h5diff -q --delta=2e-6 sim.uvh5 out.uvh5
fi

# ---- a picture of it, which has a beam, is a model too
accepts '' image out.uvh5 -o dirty.h5 --size 128 --scale 20asec "${options[@]}" -q
accepts '' predict --model dirty.h5 sim.uvh5 -o first.uvh5 "${options[@]}" --vram 64M --ram 128M -q
for sparse in resident mapped streamed auto; do
    for budget in '64M 64M 1' '1M 16M 2' '520K 8M 3'; do
        read -r vram ram threads <<<"$budget"
        [[ $sparse == resident && $vram == 520K ]] && continue
        accepts "^predicted" predict --model dirty.h5 sim.uvh5 -o again.uvh5 "${options[@]}" \
            --overwrite --sparse $sparse --vram "$vram" --ram "$ram" --threads "$threads"
        check "$sparse with $budget: other bytes" cmp -s first.uvh5 again.uvh5
    done
done
accepts '' predict --model dirty.h5 sim.uvh5 -o again.uvh5 "${options[@]}" --overwrite
check "the beam is not spoken of" grep -q 'Jy/beam, divided by the .* pixels of a beam' .err

# ---- plan and statistics
accepts 'image is  *streamed: as was asked for' predict --model dirty.h5 sim.uvh5 "${options[@]}" \
    --dry-run --sparse streamed
smallest=$(sed -n 's/.*smallest --vram  *\([0-9]*\) bytes/\1/p' .out)
accepts '' predict --model dirty.h5 sim.uvh5 -o again.uvh5 "${options[@]}" --overwrite \
    --sparse streamed --vram "$smallest" -q
check "the smallest budget: other bytes" cmp -s first.uvh5 again.uvh5
refuses 4 "the smallest that works is --vram $smallest" predict --model dirty.h5 sim.uvh5 \
    -o no.uvh5 "${options[@]}" --sparse streamed --vram $((smallest - 1)) -q
accepts '^{' predict --model dirty.h5 sim.uvh5 -o again.uvh5 "${options[@]}" --overwrite --stats - \
    --trace t.json --report r.html --vram 64M
python3 - <<'END' || fail "the statistics"
import json
stats = json.load(open(".out"))
for key in ("device context_bytes vram_limit_bytes vram_peak_bytes ram_limit_bytes host_peak_bytes "
            "pageable_bytes tier_bytes mapped_bytes tiles passes slots bytes_read bytes_tier "
            "bytes_h2d bytes_d2h bytes_written overlap bottleneck numerics dtype").split():
    assert key in stats, key
for key in "total survey copy predict read h2d kernel d2h write".split():
    assert key in stats["seconds"], key
plan, model = stats["plan"], stats["model"]
assert model["kind"] == "image" and model["components"] == 128 * 128 and model["planes"] == 1
assert model["placement"] in ("resident", "mapped") and model["placement_why"]
assert stats["rows"] == 2000 and stats["channels"] == 2 and stats["polarisations"] == "RR, LL"
assert stats["vram_peak_bytes"] == plan["vram_peak_bytes"] <= stats["vram_limit_bytes"] == 64 << 20
assert stats["host_peak_bytes"] <= stats["ram_limit_bytes"]
assert stats["bytes_read"] == plan["bytes_read"] and stats["bytes_h2d"] == plan["bytes_h2d"]
assert stats["bytes_written"] == 16 * 2000 * 2
assert json.load(open("t.json"))["traceEvents"]
page = open("r.html").read()
assert "16384, " in page and "Jy/beam" in page
END

# ---- refusals
refuses 3 'is not UVH5' predict --model sky.txt dirty.h5 -o no.uvh5 "${options[@]}" -q
refuses 3 'nothing.fits' predict --model nothing.fits sim.uvh5 -o no.uvh5 "${options[@]}" -q
echo 'l=0 n=1' >sky.txt
refuses 3 "sky.txt:1: '" predict --model sky.txt sim.uvh5 -o no.uvh5 "${options[@]}" -q
refuses 5 'first.uvh5 exists; overwriting' predict --model dirty.h5 sim.uvh5 -o first.uvh5 \
    "${options[@]}" -q
check "a refusal left a file" test ! -e no.uvh5
check "left behind: $(ls)" test "$(ls | sort | tr '\n' ' ')" = \
    'again.uvh5 dirty.h5 first.uvh5 out.uvh5 r.html sim.uvh5 sky.txt t.json '

verdict
