#!/bin/sh
# docs/trust.md: each row names a test, each test that it names exists and is run by a suite, and is what the link calls it.
#   trust_test.sh ROOT
cd "$1/docs" || exit 1
failed=0
rows=0
fail() { echo "trust.md: $1"; failed=1; }
grep '^| ' trust.md | grep -v '^| way |' >/dev/null || { echo "docs/trust.md has no rows"; exit 1; }
while IFS= read -r row; do
    rows=$((rows + 1))
    # the last column, one link per line: NAME PATH, or NAME: WORDS PATH
    links=$(printf '%s\n' "$row" | sed 's/ *|$//; s/.*| //' | grep -o '\[[^]]*\]([^)]*)')
    [ -n "$links" ] || { fail "no test: $row"; continue; }
    while IFS= read -r link; do
        label=${link#\[}; label=${label%%\]*}
        path=${link##*\(}; path=${path%\)}
        name=$(basename "$path"); name=${name%.*}
        [ -f "$path" ] || { fail "$path does not exist"; continue; }
        [ "${label%%:*}" = "$name" ] || fail "$label is a link to $path"
        case $label in
        *": "*) grep -qF "${label#*: }" "$path" || fail "$path has nothing of \"${label#*: }\"" ;;
        esac
        folder=$(basename "$(dirname "$path")")
        case $folder in
        tests) grep -q "'$name\\.\\|'$name'" ../tests/meson.build ;;
        *) grep -q "'$folder'\\|/$folder/\\|\"\$0\"/$folder" ../tests/meson.build ;;
        esac || fail "no suite runs $path"
    done <<END
$links
END
done <<END
$(grep '^| ' trust.md | grep -v '^| way |')
END
echo "$rows rows"
exit $failed
