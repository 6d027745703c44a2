#!/bin/sh
# install_test.sh BUILD: what `meson install` puts somewhere compiles and runs there: a program with the shared and
# with the static library by pkg-config, one by CMake, the installed command.
build=$(realpath "$1")
here=$(mktemp -d) || exit 1
trap 'rm -rf "$here"' EXIT
fail() {
    echo "$1"
    [ -f "$here/log" ] && tail -20 "$here/log"
    exit 1
}
command -v meson >/dev/null && command -v pkg-config >/dev/null || { echo "meson or pkg-config is missing"; exit 77; }
meson install -C "$build" --no-rebuild --destdir "$here/root" >"$here/log" 2>&1 || fail "meson install failed"
pc=$(find "$here/root" -name retrograd.pc)
[ -n "$pc" ] || fail "there is no retrograd.pc"
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$here/root
libdir=$here/root$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=libdir retrograd)
cat >"$here/main.c" <<'END'
#include <retrograd/retrograd.h>
#include <stdio.h>
#include <string.h>
int
main(void)
{
    rg_device_info info = RG_INIT(rg_device_info);
    rg_device_desc desc = RG_DESC(rg_device_desc, .name = RG_STR("interp"));
    rg_device *device;
    if (strcmp(rg_version(), RG_VERSION) || rg_device_open(&desc, &device) || rg_device_get_info(device, &info))
        return 1;
    printf("%s %s\n", rg_version(), info.name);
    rg_device_destroy(device);
    return 0;
}
END
cd "$here" || exit 1
# shellcheck disable=SC2046
${CC:-cc} $RG_TEST_CFLAGS main.c $(pkg-config --cflags --libs retrograd) -o shared >log 2>&1 || fail "no program with the shared library"
LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ./shared >out 2>log || fail "the program with the shared library"
grep -q "^[0-9.]* interp$" out || fail "the program with the shared library said: $(cat out)"
readelf -d "$libdir/libretrograd.so" 2>/dev/null | grep -q "SONAME.*libretrograd.so.0" || fail "no soname with a version"
# shellcheck disable=SC2046
${CC:-cc} $RG_TEST_CFLAGS main.c $(pkg-config --cflags retrograd) "$libdir/libretrograd.a" $(sed -n 's/^Libs.private: //p' "$pc") -o static \
    >log 2>&1 || fail "no program with the static library"
./static >out 2>log || fail "the program with the static library"
grep -q "^[0-9.]* interp$" out || fail "the program with the static library said: $(cat out)"
# the compiler is opened from beside it
cat >compiles.c <<'END'
#include <retrograd/retrograd.h>
#include <stdio.h>
#include <unistd.h>
int
main(int argc, char **argv)
{
    rg_module *m;
    const rg_str *names;
    size_t n;
    if (argc > 1 && chdir(argv[1]))
        return 2;
    if (rg_module_from_c(RG_STR("double f(double x) { return x; }"), NULL, &m) || rg_module_get_names(m, &names, &n)) {
        fprintf(stderr, "%s\n", rg_error_message());
        return 1;
    }
    return n != 1;
}
END
# shellcheck disable=SC2046
${CC:-cc} $RG_TEST_CFLAGS compiles.c $(pkg-config --cflags --libs retrograd) -o compiles >log 2>&1 || fail "no program that compiles"
export LD_LIBRARY_PATH="$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
if ./compiles >out 2>log; then
    # also where the library was found by a relative path, and the process is elsewhere by now
    LD_LIBRARY_PATH=${libdir#"$here/"} RG_CACHE=off ./compiles / >out 2>log || fail "a program that was started with a relative path of the library"
    mv "$libdir"/libretrograd-compiler.so.0 "$here"
    ./compiles >out 2>log && fail "a program compiled without the compiler"
    grep -q "the compiler cannot be opened" log || fail "nothing says that the compiler is missing"
    mv "$here"/libretrograd-compiler.so.0 "$libdir"
    # its helper, too
    export RG_COMPILE_PROCESS=on
    ./compiles >out 2>log || fail "a program that compiles in a helper process"
    mv "$libdir"/retrograd-compiler.0 "$here"
    ./compiles >out 2>log && fail "a program compiled without the helper"
    grep -q "cannot be started: $libdir/retrograd-compiler.0: No such file" log || fail "nothing says that the helper is missing"
    RG_COMPILE_PROCESS=$here/retrograd-compiler.0 ./compiles >out 2>log && fail "a helper compiled without a library beside it"
    grep -q "the compiler cannot be opened" log || fail "nothing says that the helper's library is missing"
    mv "$here"/retrograd-compiler.0 "$libdir"
    unset RG_COMPILE_PROCESS
else
    grep -q "made without libclang" log || fail "the program that compiles"
fi
[ -f "$libdir/librgrt.a" ] && [ -f "$libdir/libretrograd.a" ] || fail "a static library is missing"
if command -v cmake >/dev/null; then
    cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(retrograd 0.1 REQUIRED)
add_executable(user main.c)
target_link_libraries(user retrograd::retrograd)
END
    config=$(find "$here/root" -name retrogradConfig.cmake)
    { cmake -B cm -DCMAKE_PREFIX_PATH="${config%/lib*}" -DCMAKE_C_FLAGS="$RG_TEST_CFLAGS" . && cmake --build cm; } >log 2>&1 ||
        fail "no program by CMake"
    ./cm/user >out 2>log || fail "the program by CMake"
else
    echo "left out: a program by CMake (cmake is missing)"
fi
"$here/root$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=prefix retrograd)/bin/rgc" --version >out 2>log || fail "the installed rgc"
