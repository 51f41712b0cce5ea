#!/bin/bash
# make install, and what a user does next: the first example is built against the installed tree with
# pkg-config, shared and static, and with find_package(Sluice); and it runs.
set -eu
source=${SLUICE_SOURCE_DIR:?}
build=${SLUICE_BUILD_DIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
example=$source/examples/01_image/image.c

cmake --install "$build" --prefix "$prefix" >"$work/install.log" || {
    cat "$work/install.log"
    exit 1
}
libdir=$(dirname "$(find "$prefix" -name libsluice.a)")
for file in bin/sluice include/sluice/sluice.h include/sluice/core/status.h \
    share/man/man1/sluice.1 share/bash-completion/completions/sluice; do
    [[ -s $prefix/$file ]] || {
        echo "$file was not installed, or is empty"
        exit 1
    }
done
for file in libsluice.so.0 pkgconfig/sluice.pc cmake/Sluice/SluiceConfig.cmake; do
    [[ -e $libdir/$file ]] || {
        echo "$file was not installed in $libdir"
        exit 1
    }
done
"$prefix/bin/sluice" --version

if grep -q '^SLUICE_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then
    echo "skipped: a sanitized library is not linked from outside"
    exit 77
fi

export PKG_CONFIG_PATH=$libdir/pkgconfig
if command -v pkg-config >/dev/null; then
    # shellcheck disable=SC2046
    cc -std=c11 -Wall -Wextra -Werror "$example" -o "$work/shared" \
        $(pkg-config --cflags --libs sluice)
    # shellcheck disable=SC2046
    cc -std=c11 "$example" -o "$work/static" "$libdir/libsluice.a" \
        $(pkg-config --cflags --libs --static sluice | sed 's/ -lsluice / /')
    LD_LIBRARY_PATH=$libdir ldd "$work/shared" | grep -q libsluice.so.0
    if ldd "$work/static" | grep -q libsluice; then
        echo "the static link took the shared library"
        exit 1
    fi
    "$work/static" 2>&1 | grep -q '^usage: '
    LD_LIBRARY_PATH=$libdir "$work/shared" 2>&1 | grep -q '^usage: '
else
    echo "no pkg-config: the .pc file was not tried"
fi

mkdir "$work/consumer"
cat >"$work/consumer/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(Sluice 0.1 REQUIRED)
add_executable(with_shared "$example")
target_link_libraries(with_shared PRIVATE Sluice::sluice)
add_executable(with_static "$example")
target_link_libraries(with_static PRIVATE Sluice::sluice_static)
TEXT
cmake -S "$work/consumer" -B "$work/consumer/build" -DCMAKE_PREFIX_PATH="$prefix" \
    >"$work/consumer.log" 2>&1 && cmake --build "$work/consumer/build" >>"$work/consumer.log" 2>&1 || {
    cat "$work/consumer.log"
    exit 1
}
"$work/consumer/build/with_shared" 2>&1 | grep -q '^usage: '
"$work/consumer/build/with_static" 2>&1 | grep -q '^usage: '

man -l "$prefix/share/man/man1/sluice.1" >/dev/null 2>&1 || echo "man could not show the page, or is missing"
echo "installed, linked four ways, run"
