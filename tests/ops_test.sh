#!/bin/sh
# ops_test.sh RGC SOURCE: every op that has a derivative occurs in a differentiated case, in C or in IR
# text. SPDX-License-Identifier: Apache-2.0
rgc=$1 source=$2
all=$(mktemp) missing=0
trap 'rm -f "$all"' EXIT
cat "$source"/tests/ad/*.rg >"$all"
for file in "$source"/tests/cases/*.c; do
    named=$(sed -n 's|^// kernel: ||p' "$file")
    for name in ${named:-$(basename "$file" .c)}; do
        "$rgc" ir "$file" "$name" >>"$all" || exit 1
    done
done
ops=$(printf '#define RG_OP(NAME, text, form, flags, f, i, d0, d1, d2, doc) text #d0 #d1 #d2 ;\n#include "ops.def"\n' |
      ${CC:-cc} -E -P -I "$source/include/retrograd" - | tr ';' '\n' |
      grep -v '"SPECIAL"\|"ERROR"\|"NONE" "NONE" "NONE"' | sed -n 's/^ *"\([a-z0-9_]*\)".*/\1/p')
for op in $ops; do
    if ! grep -q " = $op " "$all"; then
        echo "no case differentiates $op"
        missing=1
    fi
done
[ $missing = 0 ] && echo "$(echo "$ops" | wc -w) ops with derivatives, all in cases"
exit $missing
