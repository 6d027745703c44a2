#!/bin/sh
# The IR that docs/design.md shows is the IR that rgc prints. A block follows a line <!-- ir: [SETTING=VALUE]... ARGUMENTS -->
# with the arguments of `rgc ir --no-places`.
#   design_test.sh SOURCE_ROOT RGC [--bless]     --bless writes what is printed into the page
root=$(realpath "$1")
rgc=$(realpath "$2")
page=$root/docs/design.md
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
awk '$0 == "<!-- file: relax.c -->" { found = 1; next } found && /^```/ { if (inside) exit; inside = 1; next } inside' "$page" >relax.c
[ -s relax.c ] || { echo "the page has no relax.c"; exit 1; }
blocks=0
: >new
skip=
while IFS= read -r line; do
    if [ -n "$skip" ]; then # the block that rgc has printed already
        [ "$line" != '```' ] || [ "$skip" = opening ] && { [ "$line" = '```' ] && skip=body; continue; }
        skip=
        continue
    fi
    printf '%s\n' "$line" >>new
    case $line in
    '<!-- ir: '*)
        words=${line#'<!-- ir: '}
        words=${words%' -->'}
        settings=
        while case $words in *=*\ *) [ "${words%%=*}" = "${words%%[ =]*}" ] ;; *) false ;; esac; do
            settings="$settings ${words%% *}"
            words=${words#* }
        done
        printf '```\n' >>new
        # shellcheck disable=SC2086
        env $settings "$rgc" ir $words --no-places >>new 2>err || { echo "rgc ir $words:"; cat err; exit 1; }
        printf '```\n' >>new
        skip=opening
        blocks=$((blocks + 1))
        ;;
    esac
done <"$page"
[ "$3" != --bless ] || cp new "$page"
diff "$page" new || { echo "docs/design.md is behind: design_test.sh SOURCE_ROOT RGC --bless"; exit 1; }
[ "$blocks" -ge 3 ] || { echo "only $blocks blocks of IR"; exit 1; }
echo "$blocks stages"
