#!/bin/sh
# The README's program compiles, runs and prints what the README says. SPDX-License-Identifier: Apache-2.0
#   readme_test.sh SOURCE_ROOT LIBRETROGRAD.SO RGC
root=$(realpath "$1")
lib=$(dirname "$(realpath "$2")")
rgc=$(realpath "$3")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# the code block that follows <!-- file: NAME -->
extract() {
    awk -v mark="<!-- file: $1 -->" '
        $0 == mark { found = 1; next }
        found && /^```/ { if (inside) exit; inside = 1; next }
        inside { print }
    ' "$root/README.md" >"$1"
    [ -s "$1" ] || { echo "the README has no block for $1"; exit 1; }
}
extract kernels.c
extract learn.c
lines=$(wc -l <learn.c)
[ "$lines" -le 45 ] || { echo "the program has $lines lines"; exit 1; }
cc $RG_TEST_CFLAGS -std=c11 -Wall learn.c -I"$root/include" -L"$lib" -lretrograd -Wl,-rpath,"$lib" -o learn || exit 1
./learn >out || exit 1
expected=$(sed -n 's/^# \(loss .*\)/\1/p' "$root/README.md")
[ "$(cat out)" = "$expected" ] || { echo "it prints: $(cat out)"; echo "the README: $expected"; exit 1; }
"$rgc" run kernels.c relax n=4 steps=ones x=ones loss=zeros --vjp loss=ones >out || exit 1
loss=$(sed -n 's/^# \(loss: .*\)/\1/p' "$root/README.md")
grep -qxF "$loss" out || { echo "rgc prints:"; cat out; exit 1; }
