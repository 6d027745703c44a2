#!/bin/sh
# wheel_test.sh BUILD COMPILER: makes the wheel (tools/wheel; BUILD is kept) and looks at it: its size, its tag, which libraries of the
# system it wants, its names, its licences. Installed in an environment that has NumPy besides, it runs where neither a compiler nor LLVM
# nor a header can be seen: the suite of NumPy, every command. Then it compiles beside other LLVMs in one process: those of
# Python packages, and the system's, which the library COMPILER is linked with, shown to all; Retrograd's other libraries lie
# beside COMPILER, in LD_LIBRARY_PATH. SPDX-License-Identifier: Apache-2.0
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
kept=$1
library=$(realpath "$2")
systems=$(ldd "$library" | awk '/libLLVM|libclang/ {print $3}')
python=$("$root/tools/python_env" 2>/dev/null) || { echo "no Python environment for tests (tools/python_env install)"; exit 77; }
for archive in z zstd; do
    [ -f "$(${CXX:-c++} -print-file-name=lib$archive.a 2>/dev/null)" ] || { echo "there is no lib$archive.a, or no C++ compiler"; exit 77; }
done
rgc=/bin/false
. "$root/tests/expect.sh"
is() { if [ "$1" = "$2" ]; then pass; else echo "FAIL: $3: $1, not $2"; failed=$((failed + 1)); fi; }
# check WHAT WORDS...: the command is to succeed
check() {
    what=$1
    shift
    "$@" >out 2>err && pass || fail "$what"
}

"$python" "$root/tools/wheel" "$work" "$kept" >out 2>err || { fail "tools/wheel"; echo "0 passed, 1 failed"; exit 1; }
wheel=$(tail -1 out)

# what it is
check "the wheel's tag" "$python" -m auditwheel show "$wheel"
tag=$(tr '\n' ' ' <out | sed -n 's/.*consistent with *the following platform tag: "\([^"]*\)".*/\1/p')
is "${wheel##*/}" "retrograd-$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/pyproject.toml")-cp310-abi3-$tag.whl" "the wheel's name"
is "$(($(wc -c <"$wheel") <= 45000000))" 1 "at most 45 MB"
"$python" -m venv --without-pip env
check "pip install" "$python" -m pip --python env/bin/python install -q --disable-pip-version-check --no-index --no-deps "$wheel"
site=$(env/bin/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
package=$site/retrograd
is "$(ls "$site" | grep -vxE 'retrograd(-.*\.dist-info)?')" "" "what it installs besides the package"
is "$(grep -rlF "${root#/}/" "$package" | tr '\n' ' ')" "" "files that name the machine they were made on"
for text in LLVM-exception BSD-3-Clause Zlib; do
    check "$text in METADATA" grep -q "^License-Expression:.*$text" "$site"/retrograd-*/METADATA
done
for text in 'LLVM Exceptions' 'Yann Collet' 'Jean-loup Gailly' 'Apache License'; do
    check "the licence of $text" grep -rq "$text" "$site"/retrograd-*/licenses
done
ours=$(cd "$package" && ls *.so* | tr '\n' '|')
allowed='lib(c|m|dl|pthread|gcc_s)\.so\.[0-9]|libstdc\+\+\.so\.6|ld-linux-.*'
for file in "$package"/*; do
    readelf -h "$file" >/dev/null 2>&1 && [ "${file%.a}" = "$file" ] || continue
    readelf -d "$file" >dynamic
    is "$(sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' dynamic | grep -vxE "$ours$allowed" | tr '\n' ' ')" "" "libraries that ${file##*/} wants"
    is "$(sed -n 's/.*R.*PATH.*\[\(.*\)\]/\1/p' dynamic | grep -vxF '$ORIGIN')" "" "where ${file##*/} looks for them"
    is "$(readelf -SW "$file" | grep -cE ' \.(symtab|debug_info) ')" 0 "names that ${file##*/} need not have"
    is "$(nm -D "$file" | awk '{print $NF}' | grep -E '^_?_?Z?[A-Z]*N?K?4llvm|^LLVM[A-Za-z]' | head -3 | tr '\n' ' ')" "" "LLVM's own names in ${file##*/}"
done

# alone: with an empty PATH, and where the system lets us, with nothing of compilers and LLVM in any folder
"$python" -c 'import os, numpy; print(os.path.dirname(os.path.dirname(numpy.__file__)))' >"$site/numpy.pth"
cat >hide <<'END'
for folder in /usr/lib/llvm* /usr/lib/gcc /usr/lib/clang /usr/include /usr/local/include; do
    [ ! -d "$folder" ] || mount -t tmpfs none "$folder" || exit 1
done
for file in /usr/lib/libLLVM* /usr/lib/*/libLLVM* /usr/lib/*/libclang*; do
    [ ! -f "$file" ] || mount --bind /dev/null "$file" || exit 1
done
exec "$@"
END
hidden="env -i PATH=/nowhere HOME=$work TMPDIR=$work RG_CACHE=off PYTHONDONTWRITEBYTECODE=1"
hides=
for way in "unshare -m" "unshare -rm"; do
    [ -z "$hides" ] && $way sh hide sh -c '[ ! -e /usr/include/stdio.h ]' 2>/dev/null && hides="$way sh hide"
done
[ -n "$hides" ] || echo "left out: folders without LLVM (nothing can be mounted here)"
alone() { $hides $hidden "$@"; }
check "the suite of NumPy" alone "$work/env/bin/python" "$root/tests/python/test_numpy.py"
cat >kernels.c <<'END'
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
void relax(int n, const int32_t steps[n], const float x[n], float loss[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < steps[i]; t++) v = sinf(v) + 0.1f;
        #pragma omp atomic
        loss[0] += v;
    }
}
END
{ echo '#!/bin/sh'; echo "exec $hides $hidden \$SET $work/env/bin/python -m retrograd \"\$@\""; } >command
chmod +x command
rgc=$work/command
expect 0 list kernels.c
says "x      f32[n]"
check "the command rgc" alone "$work/env/bin/rgc" list kernels.c
for SET in RG_COMPILE_PROCESS=off RG_COMPILE_PROCESS=on RG_CACHE="$work/cache" RG_CACHE="$work/cache"; do
    export SET
    expect 0 run kernels.c relax n=4 steps=ones x=ones loss=zeros --vjp loss=ones
    says "loss: f32[1] = 3.76588" # 4 (sin 1 + 0.1)
    says "x.adj: f32[4] = 0.540302" # cos 1
done
SET="RG_DEBUG=cache RG_CACHE=$work/cache"
expect 0 run kernels.c relax n=4 steps=ones x=ones loss=zeros --vjp loss=ones
says "cache: found code"
SET=
expect 0 check kernels.c relax
expect 0 explain kernels.c relax
says "relax"
expect 0 ir kernels.c relax --form forward_vjp --target sm_90 --stage assembly
says ".target sm_90"
expect 0 grad kernels.c relax --target aarch64-linux-gnu -o arm.o
is "$(readelf -h arm.o 2>/dev/null | sed -n 's/.*Machine: *//p')" AArch64 "an object for another processor"
expect 1 grad kernels.c relax --target riscv64-linux-gnu
says 'No available targets are compatible with triple "riscv64-unknown-linux-gnu"'
expect 0 grad kernels.c relax
check "a program with its object" sh -c "cc -I. '$root/tests/wheel/alone.c' relax_grad.o '$package/librgrt.a' -pthread -lm -o alone && ./alone"

# beside others
export RG_CACHE=off PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH="${library%/*}"
has_module() { env/bin/python -c "import importlib.util, sys; sys.exit(not importlib.util.find_spec('$1'))"; }
for name in llvmlite triton jaxlib torch $systems; do
    case $name in
    */*) ;;
    *) has_module "$name" || { echo "left out: beside $name (no Python module $name)"; continue; } ;;
    esac
    for order in first last; do
        check "beside $name, which comes $order" env/bin/python "$root/tests/wheel/beside.py" "$name" $order
    done
done
# what libraries of the wheel import they find in the wheel, whatever names all can see
for name in $systems; do
    LD_DEBUG=bindings LD_DEBUG_OUTPUT="$work/bindings" env/bin/python "$root/tests/wheel/beside.py" "$name" first >out 2>err
    sed -n "s|.*binding file $package/[^ ]* \[[0-9]*\] to \([^ ]*\) .*|\1|p" bindings.* | sort -u >bound
    is "$(grep -c "^$package/libretrograd" bound)" 4 "libraries of the wheel that were searched for names"
    is "$(grep -vE "^$package/|/($allowed|libpython.*|python.*)$" bound | tr '\n' ' ')" "" "where names were found beside $name"
    rm -f bindings.*
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
