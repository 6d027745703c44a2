#!/bin/sh
# plan_test.sh RGC FOLDER: what gradients record, by their lowered IR. SPDX-License-Identifier: Apache-2.0
# Each FOLDER/NAME.c holds a kernel of its name, and comments that say what must be:
#   // frames FORM: f64 f32 | bool     the types of each push, in order; `none`: nothing is recorded
#   // count FORM STAGE OP N           ops of that name at that stage (of rgc ir)
#   // target NAME                     of rgc ir; without it, one thread of this machine
rgc=$1 folder=$2
failed=0 checked=0

ir() {
    set -- "$file" "$name" --form "$1" --stage "$2"
    if [ -n "$target" ]; then "$rgc" ir "$@" --target "$target"; else RG_LANES=1 "$rgc" ir "$@"; fi 2>&1 | sed 's/ @ .*//'
}

differs() {
    echo "$name: $1: $2, not $3"
    failed=1
}

frames() { # FORM: types of values are looked up where they are defined
    ir "$1" tape | grep -v 'tape_push.again' | awk '
        { line = $0
          while (match(line, /%[A-Za-z0-9_.]+: [a-z0-9]+(\[[0-9]+\])?/)) {
              split(substr(line, RSTART, RLENGTH), part, ": ")
              type[part[1]] = part[2]
              line = substr(line, RSTART + RLENGTH)
          } }
        / tape_push / { sub(/.* tape_push %[A-Za-z0-9_.]+(, )?/, ""); n = split($0, v, ", ")
          out = out (out == "" ? "" : " |")
          for (i = 1; i <= n; i++) out = out (out == "" ? "" : " ") type[v[i]] }
        END { print out == "" ? "none" : out }'
}

for file in "$folder"/*.c; do
    name=$(basename "$file" .c)
    target=$(sed -n 's,^// target ,,p' "$file")
    while read -r slashes what form rest; do
        [ "$slashes" = // ] || continue
        case $what in
        frames)
            found=$(frames "${form%:}")
            [ "$found" = "$rest" ] || differs "frames of ${form%:}" "$found" "$rest" ;;
        count)
            set -- $rest
            found=$(ir "$form" "$1" | grep -cE "(= |^ *)$2( |$)")
            [ "$found" = "$3" ] || differs "$2 in $form after $1" "$found" "$3" ;;
        *) continue ;;
        esac
        checked=$((checked + 1))
    done <"$file"
done
[ $failed = 0 ] && echo "$checked plans hold"
[ $checked -gt 0 ] || failed=1
exit $failed
