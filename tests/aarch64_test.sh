#!/bin/sh
# aarch64, run by an emulator: the suites that need no LLVM, built without it by a cross compiler; and kernels that this
# machine compiles for several of its processors, linked with its runtime, give the bits that this machine's own give.
#   aarch64_test.sh ROOT RGC [SYSROOT TEST...]
# With SYSROOT, LLVM and libclang are in it (libllvm and libclang1 for arm64 with what they depend on, unpacked): everything
# is built with them, and the tests named are run, by hand, since that takes long.
for tool in aarch64-linux-gnu-gcc qemu-aarch64 meson ninja; do
    command -v $tool >/dev/null || { echo "$tool is missing"; exit 77; }
done
root=$(realpath "$1")
rgc=$(realpath "$2")
sysroot=$3
[ $# -lt 3 ] && shift 2 || shift 3
here=$(mktemp -d) || exit 1
trap 'rm -rf "$here"' EXIT
prefix=${sysroot:-/usr/aarch64-linux-gnu}
export QEMU_LD_PREFIX=$prefix RG_TEST_EMULATED=1 CC=aarch64-linux-gnu-gcc
options="-Dllvm=disabled -Dclang=disabled"
if [ -n "$sysroot" ]; then
    options=
    version=$(llvm-config-22 --version)
    lib=$sysroot/usr/lib/aarch64-linux-gnu
    printf '#!/bin/sh\ncase $1 in --libdir) echo %s ;; --version) echo %s ;; *) llvm-config-22 "$1" ;; esac\n' \
        "$lib" "$version" >"$here/llvm-config"
    chmod +x "$here/llvm-config"
    [ -e "$lib/libclang-22.so" ] || ln -s libclang-22.so.1 "$lib/libclang-22.so"
fi
cat >"$here/cross.ini" <<END
[binaries]
c = 'aarch64-linux-gnu-gcc'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
$([ -z "$sysroot" ] || echo "llvm-config-22 = '$here/llvm-config'")
exe_wrapper = ['qemu-aarch64']
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
[built-in options]
c_link_args = ['-Wl,-rpath-link,$prefix/usr/lib/aarch64-linux-gnu', '-Wl,-rpath-link,$prefix/lib/aarch64-linux-gnu',
    '-Wl,--allow-shlib-undefined']
END
# at this level gcc warns of what it does not see through
# shellcheck disable=SC2086
meson setup "$here/build" "$root" --cross-file "$here/cross.ini" $options -Dzlib=disabled -Ddebug=false -Doptimization=1 \
    -Dwerror=false >"$here/log" 2>&1 || { cat "$here/log"; exit 1; }
build() {
    ninja -C "$here/build" "$@" >"$here/log" 2>&1 || { tail -20 "$here/log"; exit 1; }
}
failed=0
if [ -n "$sysroot" ]; then
    build
    meson test -C "$here/build" --no-rebuild -t 20 --print-errorlogs "$@" || failed=1
else
    build tests/base_test tests/target_test tests/eval_test tests/interp_test tests/exact_test tests/cpu_test tests/build_test \
        tests/inside_test tests/pipeline_test tests/planes_test tests/layout_test tests/api_test tests/device_test librgrt.a
    meson test -C "$here/build" --no-rebuild -t 20 --print-errorlogs base target eval interp exact cpu build_test inside_test pipeline \
        planes layout api device >"$here/log" 2>&1 || { cat "$here/log"; failed=1; }
fi

# ahead of time
cat >"$here/k.c" <<'END'
#include <math.h>
void relax(int n, const int steps[n], const float x[n], float y[n], int count[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < steps[i]; t++) {
            if (v > 2.0f) break;
            v = sinf(v) + expf(-v * v) * 0.7f;
            #pragma omp atomic
            count[0]++;
        }
        y[i] = v / (x[i] + 3.0f);
    }
}
void newton(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double r = x[i];
        while (fabs(r * r * r - x[i]) > 1e-9 * x[i])
            r = r - (r * r * r - x[i]) / (3.0 * r * r);
        y[i] = r * log(1.0 + r);
    }
}
void halves(int n, const _Float16 x[n], _Float16 y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        _Float16 v = x[i];
        for (int t = 0; t < 3; t++)
            v = v * v * (_Float16)0.5 + x[i];
        y[i] = v;
    }
}
END
cat >"$here/main.c" <<'END'
#include "relax.h"
#include "newton.h"
#include "halves.h"
#include <stdio.h>
enum { N = 200 };
int main(void)
{
    static float x[N], y[N], xa[N], ya[N];
    static double d[N], e[N], da[N], ea[N];
    static uint16_t h[N], g[N], ha[N], ga[N];
    static int steps[N], count[1];
    for (int i = 0; i < N; i++) {
        x[i] = 0.013f * i, steps[i] = i * 7 % 23, ya[i] = 1, d[i] = 0.1 + i * i, ea[i] = 1;
        h[i] = (uint16_t)(0x3000 + 5 * i), ga[i] = 0x3c00;
    }
    if (relax_lacks())
        return fprintf(stderr, "lacks %s\n", relax_lacks()), 1;
    if (relax_forward_vjp(N, steps, x, xa, y, ya, count) || newton_forward_vjp(N, d, da, e, ea) ||
        halves_forward_vjp(N, h, ha, g, ga))
        return 1;
    printf("%d\n", count[0]);
    for (int i = 0; i < N; i++)
        printf("%a %a %a %a %x %x\n", y[i], xa[i], e[i], da[i], g[i], ha[i]);
    return 0;
}
END
# compile FOLDER OPTIONS...: the kernels' objects and headers
compile() {
    mkdir -p "$here/$1"
    folder=$here/$1
    shift
    for kernel in relax newton halves; do
        "$rgc" grad "$here/k.c" $kernel -o "$folder/$kernel.o" "$@" || exit 1
    done
}
compile own
cc "$here/main.c" -I"$here/own" "$here"/own/*.o -L"$(dirname "$rgc")" -lrgrt -pthread -lm -o "$here/own/main" && "$here/own/main" >"$here/expected" || exit 1
[ "$(wc -l <"$here/expected")" = 201 ] || exit 1
for cpu in generic neoverse-v1 a64fx; do
    case $cpu in neoverse-v1) length=32 ;; a64fx) length=64 ;; *) length=16 ;; esac
    compile $cpu --target aarch64-linux-gnu --cpu $cpu
    # vectors of SVE, where their length is known
    sve=$(aarch64-linux-gnu-objdump -d "$here/$cpu/relax.o" | grep -c '\bz[0-9]*\.s')
    if [ $length = 16 ]; then [ "$sve" = 0 ]; else [ "$sve" -gt 100 ]; fi || { echo "$cpu: $sve instructions of SVE"; failed=1; }
    aarch64-linux-gnu-gcc "$here/main.c" -I"$here/$cpu" "$here/$cpu"/*.o -L"$here/build" -lrgrt -pthread -lm -o "$here/$cpu/main" || exit 1
    qemu-aarch64 -cpu max,sve-default-vector-length=$length "$here/$cpu/main" >"$here/$cpu/out" || { echo "$cpu: the program fails"; failed=1; }
    # with vectors of another length it does nothing
    [ $length = 16 ] || ! qemu-aarch64 -cpu max,sve-default-vector-length=$((96 - length)) "$here/$cpu/main" >"$here/out" 2>"$here/err" &&
        { [ $length = 16 ] || grep -q "lacks sve=$length" "$here/err"; } || { echo "$cpu: it runs with another length"; failed=1; }
    cmp -s "$here/expected" "$here/$cpu/out" || { echo "$cpu: other bits"; diff "$here/expected" "$here/$cpu/out" | head -4; failed=1; }
done
exit $failed
