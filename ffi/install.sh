#!/bin/sh
# install.sh PREFIX: builds libverifi and puts header, libraries and verifi.pc below PREFIX, or below DESTDIR/PREFIX.
set -eu
prefix=$1
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
cargo build --release --locked -p verifi-ffi

built=${CARGO_TARGET_DIR:-target}/release
version=$(cargo pkgid -p verifi-ffi --offline | sed 's/.*[#@]//')
abi=$(sed -n 's/^#define VERIFI_ABI_VERSION //p' include/verifi.h)
lib=${DESTDIR:-}$prefix/lib
mkdir -p "$lib/pkgconfig" "${DESTDIR:-}$prefix/include"
install -m 644 include/verifi.h "${DESTDIR:-}$prefix/include/verifi.h"

install -m 755 "$built/libverifi.so" "$lib/libverifi.so.$version"
strip --strip-unneeded "$lib/libverifi.so.$version"
ln -sf "libverifi.so.$version" "$lib/libverifi.so.$abi"
ln -sf "libverifi.so.$abi" "$lib/libverifi.so"

# Rust's own symbols are made local, so that another Rust library can be linked beside this one. Groups are dissolved
# since the linker would keep the group of one library alone; bitcode is of no use once objects are joined.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -D --defined-only "$built/libverifi.so" | sed 's/.* /-u /' >"$work/functions"
ld -r --gc-sections --force-group-allocation "@$work/functions" "$built/libverifi.a" -o "$work/verifi.o"
objcopy -w --keep-global-symbol='verifi_*' --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd \
    "$work/verifi.o"
ar rcs "$work/libverifi.a" "$work/verifi.o"
install -m 644 "$work/libverifi.a" "$lib/libverifi.a"

# The C compiler adds libgcc and libc by itself, in the form that fits the program.
native=$(rustc --crate-type staticlib --print native-static-libs -o "$work/none.a" - </dev/null 2>&1 |
    sed -n 's/.*native-static-libs: //p' | sed 's/-lgcc_s *//; s/ *-lc$//')
sed -e "s|@prefix@|$prefix|; s|@version@|$version|; s|@native@|$native|" ffi/verifi.pc.in >"$lib/pkgconfig/verifi.pc"
echo "libverifi $version is in $prefix: libverifi.so.$abi has $(stat -c %s "$lib/libverifi.so.$version") bytes"
