#!/bin/sh
# symbols_test.sh LIST SHARED STATIC RUNTIME [COMPILER]: what users' programs see of the libraries. The shared and the static one have
# the names of LIST and no others, so that a name which goes or changes is noticed; the runtime for kernels compiled ahead of
# time has names that begin with rt_ and rgm_. The compiler's library has one name; it alone is linked with LLVM and libclang.
here=$(mktemp -d) || exit 1
trap 'rm -rf "$here"' EXIT
failed=0
sort "$1" >"$here/list"
nm -D --defined-only "$2" | awk '$2 ~ /[A-Z]/ && $3 !~ /^_/ {print $3}' | sort >"$here/shared"
nm -g --defined-only "$3" | awk 'NF == 3 {print $3}' | sort >"$here/static"
for kind in shared static; do
    diff "$here/list" "$here/$kind" >"$here/diff" && continue
    echo "the $kind library's names are not those of $1:"
    cat "$here/diff"
    failed=1
done
if nm -g --defined-only "$4" | awk 'NF == 3 {print $3}' | grep -vE '^(rt|rgm)_|^__odr_asan\.'; then
    echo "... are names of the runtime without its prefixes"
    failed=1
fi
if readelf -d "$2" | grep NEEDED | grep -E 'LLVM|clang'; then
    echo "... are linked with the shared library"
    failed=1
fi
if [ -n "$5" ]; then
    names=$(nm -D --defined-only "$5" | awk '$2 ~ /[A-Z]/ && $3 !~ /^_/ {print $3}')
    [ "$names" = retrograd_compiler ] || { echo "the compiler's names: $names"; failed=1; }
fi
exit $failed
