#!/bin/sh
# exclusive_test.sh RGC FILE: adds to adjoints are plain, atomic, or both behind a test, as the lines
# `// adjoints: x plain, w atomic` of the file's kernels say. SPDX-License-Identifier: Apache-2.0
rgc=$1 file=$2 failed=0 seen=0
code=$(mktemp)
trap 'rm -f "$code"' EXIT

# what the adds to array $1 are; a picked array has no name there
kind() {
    adds=$(grep "rmw\.add\.adj.* %$1\[" "$code" || grep 'rmw\.add\.adj' "$code")
    plain=$(echo "$adds" | grep -c 'rmw\.add\.adj\(\.row\)* %')
    atomic=$(echo "$adds" | grep -c 'rmw\.add\.adj\.atomic\(\.row\)* %')
    case $plain,$atomic in
    0,0) echo none ;;
    0,*) echo atomic ;;
    *,0) echo plain ;;
    *) echo tested ;;
    esac
}

check() {
    found=$(kind "$2")
    seen=$((seen + 1))
    [ "$found" = "$3" ] && return
    echo "$1: adds to the adjoint of $2 are $found, expected: $3"
    failed=1
}

kernels=$(sed -n 's|^// kernel: ||p' "$file")
for kernel in $kernels; do
    "$rgc" ir "$file" "$kernel" --form forward_vjp --stage ad >"$code" || exit 1
    wanted=$(sed -n "/^\/\/ kernel: $kernel\$/,/^void/s|^// adjoints: ||p" "$file" | tr -d ,)
    set -- $wanted
    while [ $# -gt 0 ]; do
        check "$kernel" "$1" "$2"
        shift 2
    done
done
echo "$seen arrays"
exit $failed
