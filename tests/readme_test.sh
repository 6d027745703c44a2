#!/bin/sh
# The programs of README, docs/gpu.md, docs/jacobians.md and docs/tape.md compile, run and print what is said there.
# SPDX-License-Identifier: Apache-2.0
#   readme_test.sh SOURCE_ROOT LIBRETROGRAD.SO RGC
root=$(realpath "$1")
lib=$(dirname "$(realpath "$2")")
rgc=$(realpath "$3")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# extract PAGE NAME: the code block that follows <!-- file: NAME -->
extract() {
    awk -v mark="<!-- file: $2 -->" '
        $0 == mark { found = 1; next }
        found && /^```/ { if (inside) exit; inside = 1; next }
        inside { print }
    ' "$root/$1" >"$2"
    [ -s "$2" ] || { echo "$1 has no block for $2"; exit 1; }
}
# build NAME
build() {
    cc $RG_TEST_CFLAGS -std=c11 -Wall "$1.c" -I"$root/include" -L"$lib" -lretrograd -Wl,-rpath,"$lib" -o "$1" || exit 1
}
extract README.md kernels.c
extract README.md learn.c
lines=$(wc -l <learn.c)
[ "$lines" -le 45 ] || { echo "the program has $lines lines"; exit 1; }
build learn
./learn >out || exit 1
expected=$(sed -n 's/^# \(loss .*\)/\1/p' "$root/README.md")
[ "$(cat out)" = "$expected" ] || { echo "it prints: $(cat out)"; echo "the README: $expected"; exit 1; }
"$rgc" run kernels.c relax n=4 steps=ones x=ones loss=zeros --vjp loss=ones >out || exit 1
loss=$(sed -n 's/^# \(loss: .*\)/\1/p' "$root/README.md")
grep -qxF "$loss" out || { echo "rgc prints:"; cat out; exit 1; }

# the page of the command
"$rgc" list kernels.c >out || exit 1
sed -n '/^kernels.c:2: relax$/,/^```$/p' "$root/docs/rgc.md" | grep -v '^```' >expected
cmp -s out expected || { echo "rgc list prints:"; cat out; echo "docs/rgc.md:"; cat expected; exit 1; }

# derivatives inside kernels: each agrees with differences, and other compilers take the files
for name in bodies newton reverse curvature kepler; do
    extract docs/derivatives.md $name.c
    case $name in bodies) scalars="n=3 steps=4" ;; *) scalars=n=3 ;; esac
    "$rgc" check $name.c $name $scalars >out || { echo "rgc check $name:"; cat out; exit 1; }
    cc -std=c11 -Wall -c $name.c -I"$root/include" -Wno-unknown-pragmas -o $name.o || exit 1
done

extract docs/jacobians.md lens.c
extract docs/jacobians.md rows.c
build rows
./rows >out || exit 1
sed -n '/^seen\[/p' "$root/docs/jacobians.md" >expected
cmp -s out expected || { echo "it prints:"; cat out; echo "the page:"; cat expected; exit 1; }

extract docs/tape.md spring.c
extract docs/tape.md swing.c
build swing
for run in "./swing cpu" "./swing cpu 1000"; do
    awk -v run="$run" '/^```/ || /^\.\/swing/ { inside = $0 == run; next } inside' "$root/docs/tape.md" >expected
    $run >out || exit 1
    cmp -s out expected || { echo "$run prints:"; cat out; echo "docs/tape.md:"; cat expected; exit 1; }
done

# on a GPU: here on the devices that need none
extract docs/gpu.md aim.c
extract docs/gpu.md fit.c
build fit
sed -n 's/^# \(loss .*\)/\1/p' "$root/docs/gpu.md" >expected
for device in cpu interp simt; do
    "$rgc" run aim.c descend n=1 rate=1 slope=ones x=ones --device $device >out 2>&1 || { cat out; exit 1; }
    ./fit $device >out || exit 1
    cmp -s out expected || { echo "on $device it prints: $(cat out)"; echo "the page: $(cat expected)"; exit 1; }
done
