#!/bin/bash
# Each library that Sluice can do without, left out alone: the file that stands in for its part compiles, the
# program links without the library, and does what needs none. (A build without any of them is README's
# -DSLUICE_<NAME>=OFF; here the objects of the present build are linked anew, which takes a second each.)
set -u
source=${SLUICE_SOURCE_DIR:?}
build=${SLUICE_BUILD_DIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=$build/CMakeFiles/sluice_objects.dir/flags.make
link=$build/CMakeFiles/sluice.dir/link.txt
if [[ ! -s $flags || ! -s $link ]]; then
    echo "not built by make: not run"
    exit 77
fi
compile="$(sed -n 's/^# compile C with //p' "$flags" | head -n 1) $(sed -n 's/^C_[A-Z]* = //p' "$flags" | tr '\n' ' ')"
# How the program is linked; a long command lies in files, which are named behind an @.
command=$(cat "$link")
while [[ $command =~ @([^ ]*) ]]; do
    command=${command/"@${BASH_REMATCH[1]}"/$(tr '\n' ' ' <"$build/${BASH_REMATCH[1]}")}
done
command=${command//\"/}
declare -A library=([FITS]=cfitsio [PNG]=png16 [NPZ]=zip [XXHASH]=xxhash [DEFLATE]=deflate [LZ4]=lz4
    [BLOSC]=blosc [SZIP]='(aec|sz)')
n_failed=0
n_done=0

fail() {
    n_failed=$((n_failed + 1))
    echo "FAILED: $*"
}

# What the program can do with any one of them missing.
use() { # PROGRAM
    cd "$work" || return 1
    "$1" simulate -o set.uvh5 --array vla-d --rows 500 --no-progress --overwrite >use.log 2>&1 &&
        "$1" image set.uvh5 -o image.h5 --size 16 --device host --no-probe --no-progress --overwrite \
            >>use.log 2>&1 &&
        "$1" repack set.uvh5:/Data/visdata -o packed.h5:/v --filter deflate:1 --device host --no-probe \
            --no-progress --overwrite >>use.log 2>&1 &&
        "$1" stats packed.h5:/v --device host --no-probe --no-progress >>use.log 2>&1
}

# The pairs of files are those of CMakeLists.txt.
pairs() { # NAME: lines of "present absent"
    sed -n "s/^sluice_choose(\${SLUICE_HAVE_$1} \"\([^\"]*\)\" \"\([^\"]*\)\")$/\1 \2/p" \
        "$source/CMakeLists.txt" | sed 's/\\\\//g'
}

leave_out() { # NAME
    local name=$1 present absent without
    if ! grep -Eq "(lib|-l)${library[$name]}[. ]" <<<"$command"; then
        echo "$name: is absent from this build already"
        return
    fi
    cp "$build/libsluice.a" "$work/libsluice.a"
    while read -r present absent; do
        ar d "$work/libsluice.a" "$(basename "$present").o" || return 1
        $compile -c "$source/$absent" -o "$work/$(basename "$absent").o" || return 1
        ar r "$work/libsluice.a" "$work/$(basename "$absent").o" 2>/dev/null || return 1
    done < <(pairs "$name")
    without=$(sed -E "s: [^ ]*(/lib|-l)${library[$name]}(\.[^ ]*)?( |$): :
                      s: libsluice\.a: $work/libsluice.a:
                      s: -o sluice : -o $work/sluice :" <<<"$command")
    # The command has words, and no word has a space or a quote.
    (cd "$build" && $without -lz) || return 1
    if readelf -d "$work/sluice" | grep -Eq "NEEDED.*lib${library[$name]}\.so"; then
        echo "it is linked with the library still"
        return 1
    fi
    use "$work/sluice" || { cat "$work/use.log"; return 1; }
    n_done=$((n_done + 1))
}

for name in "${!library[@]}"; do
    [[ -n $(pairs "$name") ]] || fail "$name: CMakeLists.txt names no pair of files"
    leave_out "$name" || fail "without $name"
done
while read -r name; do
    [[ -n ${library[$name]:-} ]] || fail "$name: this test does not know the library"
done < <(sed -n 's/^sluice_choose(.{SLUICE_HAVE_\([A-Z0-9]*\)}.*/\1/p' "$source/CMakeLists.txt")
echo "$n_done libraries left out in turn, $n_failed failed"
[[ $n_failed -eq 0 ]]
