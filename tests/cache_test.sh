#!/bin/sh
# The cache from the outside: what a second process finds, and what makes it look again. SPDX-License-Identifier: Apache-2.0
#   cache_test.sh RGC WARM [FAKE_CUDA]
rgc=$(realpath "$1")
warm=$(realpath "$2")
fake=${3:+$(realpath "$3")}
docs=$(realpath "$(dirname "$0")/../docs")
. "$(dirname "$0")/expect.sh"
export RG_CACHE="$work/cache" RG_DEBUG=cache
gives() { grep -qxF -- "return: f64[] = $1" out && pass || fail "it does not return $1"; }
# makes N / finds N: so many results of the last run were made, or found, as the log counts them
makes() { n=$(grep -c '^cache: made ' err); [ "$n" = "$1" ] && pass || fail "$n results were made, not $1"; }
finds() { n=$(grep -c '^cache: found ' err); [ "$n" = "$1" ] && pass || fail "$n results were found, not $1"; }
empty() { rm -rf "$RG_CACHE"; }

cat >f.h <<'END'
#define FACTOR 2
static inline double scaled(double x) { return FACTOR * x; }
END
cat >f.c <<'END'
#include <math.h>
#include "f.h"
double f(double x) { return scaled(x) + fabs(x); }
double refused(double *x) { double y = x[0]; x[0] = 3 * y * y; return y; }
END

# -- again ------------------------------------------------------------------------------------------
for device in interp cpu; do
    empty
    expect 0 run f.c f x=3 --device $device
    gives 9
    finds 0
    expect 0 run f.c f x=3 --device $device
    gives 9
    makes 0
    expect 0 run f.c f x=4 --device $device
    gives 12
    makes 0
done
mkdir elsewhere
cd elsewhere || exit 1
expect 0 run "$work/f.c" f x=3
expect 0 run "$work/f.c" f x=3
makes 0
cd ..
expect 0 run "$work/f.c" f x=3
makes 0

# -- errors are the same ----------------------------------------------------------------------------
empty
expect 1 run f.c refused x=1 --vjp return=1 --mode split
grep -v '^cache: ' err >first
says "f.c:4"
expect 1 run f.c refused x=1 --vjp return=1 --mode split
grep -v '^cache: ' err >second
cmp -s first second && pass || fail "the second message is another"
grep -q '^cache: found IR' err && pass || fail "the IR was not found"
expect 1 run f.c nothing x=1
expect 1 run f.c nothing x=1
says "there is no kernel"

# -- what was included ------------------------------------------------------------------------------
empty
expect 0 run f.c f x=3
sed -i 's/FACTOR 2/FACTOR 5/' f.h
expect 0 run f.c f x=3
gives 18
says "f.h is another"
expect 0 run f.c f x=3
makes 0
sed -i 's/FACTOR 5/FACTOR 7/' f.h
touch -d '2001-01-01' f.h
expect 0 run f.c f x=3
gives 24
# one that comes before the one that was found
mkdir early late
echo '#define N 1' >late/n.h
printf '#include <n.h>\n#include "f.h"\ndouble f(double x) { return N * x; }\n' >g.c
expect 0 run g.c f x=3 -I early -I late
gives 3
expect 0 run g.c f x=3 -I early -I late
gives 3
makes 0
echo '#define N 2' >early/n.h
expect 0 run g.c f x=3 -I early -I late
gives 6
rm early/n.h
expect 0 run g.c f x=3 -I early -I late
gives 3
echo 'static inline double fabs(double x) { return 100; }' >math.h
expect 0 run f.c f x=3 -I .
gives 121
rm math.h
expect 0 run f.c f x=3 -I .
gives 24
# one that was not there at all
printf '#include "later.h"\n#ifdef LATER\n#define M 2\n#else\n#define M 1\n#endif\ndouble f(double x) { return M * x; }\n' >h.c
"$rgc" run h.c f x=3 >out 2>err
echo '#define LATER' >later.h
expect 0 run h.c f x=3
gives 6
printf '#if __has_include("maybe.h")\n#define M 2\n#else\n#define M 1\n#endif\ndouble f(double x) { return M * x; }\n' >i.c
expect 0 run i.c f x=3
gives 3
: >maybe.h
expect 0 run i.c f x=3
gives 6
# of two folders that it is in, the one that it was found in
mkdir -p outer/inner
echo '#define N 1' >outer/inner/n.h
expect 0 run g.c f x=3 -I outer -I outer/inner
gives 3
echo '#define N 2' >outer/n.h
expect 0 run g.c f x=3 -I outer -I outer/inner
gives 6
# what is asked for by a word of the command line, or at some distance from the #
rm maybe.h
printf '#if HAS\n#define M 2\n#else\n#define M 1\n#endif\ndouble f(double x) { return M * x; }\n' >o.c
expect 0 run o.c f x=3 '-DHAS=__has_include("maybe.h")'
gives 3
: >maybe.h
expect 0 run o.c f x=3 '-DHAS=__has_include("maybe.h")'
gives 6
printf 'static const unsigned char t[] = {\n#  embed "data.bin"\n};\ndouble f(double x) { return t[0] * x; }\n' >p.c
printf '\1' >data.bin
expect 0 run p.c f x=3
gives 3
printf '\2' >data.bin
expect 0 run p.c f x=3
gives 6
# by other ways
echo '#define M 3' >forced.h
printf 'double f(double x) { return M * x; }\n' >j.c
expect 0 run j.c f x=3 -include forced.h
gives 9
echo '#define M 4' >forced.h
expect 0 run j.c f x=3 -include forced.h
gives 12
expect 0 run j.c f x=3 -DM=5
gives 15
expect 0 run j.c f x=3 -DM=6
gives 18
export CPATH="$work/late"
expect 0 run g.c f x=3
unset CPATH
gives 3
mkdir other
echo '#define N 9' >other/n.h
export CPATH="$work/early:$work/other"
expect 0 run g.c f x=3
gives 27
cp late/n.h early
expect 0 run g.c f x=3
gives 3
rm early/n.h
unset CPATH

# -- other files ------------------------------------------------------------------------------------
mkdir parts
echo 'double part(double x) { return 2 * x; }' >parts/a.c
echo 'double part(double); double f(double x) { return part(x); }' >k.c
expect 0 run k.c f x=3 --with parts
gives 6
expect 0 run k.c f x=3 --with parts
makes 0
echo 'double part(double x) { return 3 * x; }' >parts/a.c
expect 0 run k.c f x=3 --with parts
gives 9
echo 'double part(double x) { return 4 * x; }' >parts/b.c
expect 1 run k.c f x=3 --with parts
rm parts/a.c
expect 0 run k.c f x=3 --with parts
gives 12
mkdir base
printf 'double f(double x) { return M * x; }\n' >base/l.c
expect 0 run base/l.c f x=3 -DM=1
gives 3
expect 0 run base/l.c f x=3 -DM=1
makes 0
cat >compile_commands.json <<END
[{"directory": "$work/base", "command": "cc -DM=8 -c l.c", "file": "l.c"}]
END
expect 0 run base/l.c f x=3
gives 24
sed -i 's/M=8/M=9/' compile_commands.json
expect 0 run base/l.c f x=3
gives 27
rm compile_commands.json

# -- damage -----------------------------------------------------------------------------------------
empty
expect 0 run f.c f x=3
for file in "$RG_CACHE"/*/*; do
    printf 'x' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 20)) conv=notrunc 2>/dev/null
done
expect 0 run f.c f x=3
gives 24
says "is damaged"
finds 0
expect 0 run f.c f x=3
makes 0
for file in "$RG_CACHE"/*/*; do
    : >"$file"
done
expect 0 run f.c f x=3
gives 24
expect 0 run f.c f x=3
makes 0

# -- code -------------------------------------------------------------------------------------------
cat >step.c <<'END'
#include <assert.h>
#include <math.h>
void step(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        assert(v < 9);
        for (int t = 0; t < 30; t++) {
            if (v > 2) break;
            v = sin(v) * exp(-v) + 0.1;
        }
        y[i] = v;
    }
}
END
# warms MADE FOUND DEVICE: the program makes so many results and finds so many; without LLVM if it makes none
warms() {
    "$warm" step.c step "$3" >out 2>err && pass || fail "warm on $3"
    makes "$1"
    finds "$2"
    grep -q "without LLVM" out && without=0 || without=1
    [ $without = $((($1) > 0)) ] && pass || fail "$1 results were made: $(grep LLVM out)"
    # IR is looked at where something is made of it
    reads=$(grep -c '^cache: read IR' err)
    [ "$reads" = $((($1) * ($2))) ] && pass || fail "IR was read $reads times"
    head -1 out >sum
}
empty
warms 2 0 cpu
mv sum first
warms 0 2 cpu
cmp -s first sum && pass || fail "another sum: $(cat first sum)"
warms 1 1 simt
warms 0 2 simt
# how many threads there will be is known without IR
cat >few.c <<'END'
void few(int n, int m, const int at[n], const double x[n][m], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n / 2; i++) y[i] = x[i][0];
    for (int t = 0; t < at[0]; t++) {
        #pragma omp parallel for
        for (int i = 0; i < at[1]; i++) y[i] += x[i][t];
    }
}
void one(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 1; i < n - 1; i++) y[i] = x[i - 1] * x[i + 1];
}
END
for n in 4 64; do
    for kernel in "few m=3 at=ones" one; do
        expect 0 run few.c $kernel n=$n x=ones y=zeros --vjp y=ones
        expect 0 run few.c $kernel n=$n x=ones y=zeros --vjp y=ones
        makes 0
        grep -q '^cache: read IR' err && fail "IR was read for what is kept" || pass
    done
done
# the compiler that CC names is asked once, so what is compiled where another one is named belongs to neither
printf '#include "f.h"\n' >>step.c
cp step.c other.c
for times in 1 2; do
    "$warm" step.c step cpu no_such_compiler other.c >out 2>err && pass || fail "warm with another compiler"
    says "made IR of other.c, step, which is not kept"
    sed -i 's/0.1/0.2/' step.c
done
sed -i 's/0.2/0.1/; /f.h/d' step.c
# nor does it belong to a compiler that came while it was compiled
printf '#include <ctype.h>\n#include <stdlib.h>\n#include <stdio.h>\ndouble asks(double x) { return x + x; }\n' >asks.c
printf '#!/bin/sh\n[ -f "%s/newer" ] && mv "%s/newer" "$0"\nexec cc "$@"\n' "$work" "$work" >wrapper
{ cat wrapper; echo; } >newer
chmod +x wrapper newer
searched=$PATH
export CC=wrapper PATH="$work:$PATH"
for made in 2 1 0; do
    expect 0 run asks.c asks x=7
    makes $made
done
unset CC
export PATH="$searched"
# another choice is other code
export OMP_NUM_THREADS=1
warms 1 1 cpu
warms 0 2 cpu
unset OMP_NUM_THREADS
export RG_LANES=1
warms 1 1 cpu
unset RG_LANES
export RG_PLAN=recompute
warms 1 1 cpu
warms 0 2 cpu
unset RG_PLAN
# who looks at passes sees them run
export RG_DEBUG=cache,verify
"$warm" step.c step cpu >out 2>err && pass || fail "warm with RG_DEBUG=verify"
finds 1
grep -q "LLVM was opened" out && pass || fail "nothing was compiled"
export RG_DEBUG=cache
# PTX, which the driver that is played takes
if [ -n "$fake" ]; then
    export RG_CUDA_DRIVER="$fake"
    warms 1 1 cuda
    warms 0 2 cuda
    unset RG_CUDA_DRIVER
fi
# places in messages, of code that was kept
for times in 1 2; do
    for device in cpu simt; do
        expect 1 run step.c step n=1 x=10 y=0 --device $device --unchecked
        says "step.c:8: assertion failed: v < 9"
    done
done
makes 0
sed -i 's/< 9/< 8/' step.c
expect 1 run step.c step n=1 x=10 y=0
says "step.c:8: assertion failed: v < 8"
# damaged
warms 1 1 cpu
for file in "$RG_CACHE"/*/*; do
    printf 'x' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") / 2)) conv=notrunc 2>/dev/null
done
warms 2 0 cpu
warms 0 2 cpu
# another build's, another format's: as if it were not there
sed -i 's/rgcache2/rgcache0/' "$RG_CACHE"/*/*
warms 2 0 cpu

# -- no cache ---------------------------------------------------------------------------------------
export RG_CACHE=off
expect 0 run f.c f x=3
gives 24
makes 0
finds 0
: >file
export RG_CACHE="$work/file/below"
expect 0 run f.c f x=3
gives 24
says "Not a directory"
export RG_CACHE="$work/cache" RG_CACHE_SIZE=100
expect 0 run g.c f x=3 -I late -DANOTHER
gives 3
says "too large"
unset RG_CACHE_SIZE

# -- rgc cache --------------------------------------------------------------------------------------
export RG_CACHE="$work/cache"
expect 0 cache
grep -qxF "folder   $work/cache" out && pass || fail "the folder"
grep -qxE "entries  $(ls "$RG_CACHE"/*/* | wc -l)" out && pass || fail "the entries"
grep -qxE "bytes    $(cat "$RG_CACHE"/*/* | wc -c) of at most 1073741824" out && pass || fail "the bytes"
entries=$(ls "$RG_CACHE"/*/* | wc -l)
expect 0 cache clear
grep -qxF "removed  $entries" out && pass || fail "what was removed"
expect 0 cache
# as docs/rgc.md shows it
sed 's,^folder .*,folder   /home/me/.cache/retrograd,' out >shown
sed -n '/^## cache/,$p' "$docs/rgc.md" | sed -n '/^folder /,/^bytes /p' | cmp -s - shown && pass || fail "docs/rgc.md shows something else"
export RG_CACHE=off
expect 0 cache
says "nothing is kept"
expect 2 cache empty
export RG_CACHE="$work/cache"

# -- many at once -----------------------------------------------------------------------------------
empty
for i in 1 2 3 4 5 6 7 8; do
    "$rgc" run f.c f x="$i" >"out.$i" 2>"err.$i" &
done
wait
for i in 1 2 3 4 5 6 7 8; do
    grep -qxF "return: f64[] = $((8 * i))" "out.$i" && pass || fail "process $i: $(cat "out.$i" "err.$i")"
done
expect 0 run f.c f x=3
makes 0
ls "$RG_CACHE"/* | grep -q part && fail "something unfinished is left" || pass

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
