# Sourced by the tests of the program. Works in an empty folder that is removed at the end.
set -u
program=${SLUICE_PROGRAM:-}
if [[ -z $program || ! -x $program ]]; then
    echo "SLUICE_PROGRAM is not the built program: not run"
    exit 77
fi
program=$(realpath "$program")
source_dir=${SLUICE_SOURCE_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
shared=${SLUICE_SHARED:-$source_dir/../shared}
# Measured rates are kept beside the build, not in the home of whoever runs the tests.
export XDG_CACHE_HOME=${SLUICE_BUILD_DIR:-/tmp}/test-output/cache
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_failed=0
n_checks=0

fail() {
    n_failed=$((n_failed + 1))
    echo "FAILED: $*"
}

check() { # WHAT COMMAND…: the command succeeds
    local what=$1
    shift
    n_checks=$((n_checks + 1))
    "$@" || fail "$what"
}

# run ARGUMENT…: leaves the exit code in $code, and what was printed in the files out and err.
run() {
    n_checks=$((n_checks + 1))
    env LC_ALL="${locale:-C}" "$program" "$@" >"$work/.out" 2>"$work/.err"
    code=$?
    last=$*
}

# refuses CODE PATTERN ARGUMENT…: that exit code, one line on standard error that begins with
# "sluice: " and matches the pattern, and nothing on standard output.
refuses() {
    local wanted=$1 pattern=$2
    shift 2
    run "$@"
    [[ $code -eq $wanted ]] || fail "sluice $last: exit code $code, expected $wanted"
    [[ ! -s $work/.out ]] || fail "sluice $last: printed to standard output"
    [[ $(wc -l <"$work/.err") -eq 1 ]] || fail "sluice $last: not one line: $(cat "$work/.err")"
    grep -q '^sluice: ' "$work/.err" || fail "sluice $last: the line begins otherwise"
    grep -q -e "$pattern" "$work/.err" ||
        fail "sluice $last: expected '$pattern', found: $(cat "$work/.err")"
}

# accepts PATTERN ARGUMENT…: exit code 0, and standard output matches the pattern ('': whatever).
accepts() {
    local pattern=$1
    shift
    run "$@"
    [[ $code -eq 0 ]] || fail "sluice $last: exit code $code: $(cat "$work/.err")"
    [[ -z $pattern ]] || grep -q -e "$pattern" "$work/.out" ||
        fail "sluice $last: expected '$pattern', found: $(cat "$work/.out")"
}

need_shared() {
    if [[ ! -e $shared/$1 ]]; then
        echo "no $1 in $shared: not run (SLUICE_SHARED says where the shared data is)"
        exit 77
    fi
}

verdict() {
    echo "$n_checks checks, $n_failed failed"
    [[ $n_failed -eq 0 ]]
    exit
}
