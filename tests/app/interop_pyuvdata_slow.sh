# What `sluice simulate` and `sluice predict` write, read by pyuvdata with its checks on. pyuvdata comes from PyPI into an
# environment of this test's own, kept in the build folder; without it the test is skipped.
source "$(dirname "${BASH_SOURCE[0]}")/support_program.sh"

environment=${SLUICE_BUILD_DIR:-$work}/test-output/pyuvdata
if ! "$environment/bin/python" -c "import pyuvdata, hdf5plugin" 2>/dev/null; then
    rm -rf "$environment"
    if ! python3 -m venv "$environment" >"$work/venv.log" 2>&1; then
        echo "no Python environment for pyuvdata ($(tail -n 1 "$work/venv.log")): not run"
        exit 77
    fi
    if ! timeout 400 "$environment/bin/python" -m pip --disable-pip-version-check install --quiet \
        --retries 1 --timeout 20 "pyuvdata>=3.1" hdf5plugin >"$work/pip.log" 2>&1; then
        echo "pyuvdata cannot be had from PyPI ($(tail -n 1 "$work/pip.log")): not run"
        rm -rf "$environment"
        exit 77
    fi
fi

# Far from the centre and rotated, so that every sign shows.
cat >sky.txt <<'EOF'
l=0.003 m=-0.0052 flux=1.5
l=-0.0071 m=0.002 flux=0.7 index=-0.8
l=0.001 m=0.004 flux=0.9 major=150asec minor=60asec pa=25 index=0.5
l=0.3 m=-0.2 flux=0.25
EOF

# What is predicted is not what the file held before.
cat >other.txt <<'EOF'
l=-0.002 m=0.0061 flux=0.8 index=-0.3
l=0.0051 m=0.0013 flux=1.1 major=90asec minor=40asec pa=-40
l=-0.25 m=-0.1 flux=0.5
EOF

to_check=()
make() { # ARRAY ROWS OPTION…
    local array=$1 rows=$2
    shift 2
    run simulate -o "$array.uvh5" --array "$array" --rows "$rows" --sky sky.txt "$@"
    check "simulate $array: $(cat .err)" test "$code" = 0
    run predict --model other.txt "$array.uvh5" -o "$array-predicted.uvh5"
    check "predict $array: $(cat .err)" test "$code" = 0
    to_check+=("$array.uvh5" sky.txt "$rows" "$array-predicted.uvh5" other.txt "$rows")
}

make vla-d 10000 --channels 4
make meerkat 5000 --channels 2 --pols 1 --hours 4 --zstd 1
make mwa 9000 --ra 0:12:00 --dec -27:30:00
# In one process: importing takes longer than reading.
check "pyuvdata" "$environment/bin/python" "$source_dir/tests/app/_interop_pyuvdata.py" "${to_check[@]}"
verdict
