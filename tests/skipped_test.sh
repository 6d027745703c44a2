#!/bin/sh
# Every suite that meson.build declares only where this machine has what it takes stands in its list of suites that are
# skipped otherwise, so that `make test` names it; and tools/test counts and names what was skipped.
#   skipped_test.sh ROOT
cd "$1" || exit 1
failed=0
missing=$(awk '
    /^ *if / { condition[++depth] = $0 }
    /^ *endif/ { depth-- }
    /^needs = \[/ { inside = 1 }
    /^\]/ { inside = 0 }
    inside { text = text $0 }
    match($0, /^ *test\(\047[a-z0-9_]+\047/) {
        name = substr($0, RSTART, RLENGTH)
        sub(/^ *test\(/, "", name)
        if (substr($0, RSTART + RLENGTH) ~ /^ *\+/) # the first part of several names
            sub(/\047$/, "", name)
        for (i = 1; i <= depth; i++)
            if (condition[i] !~ /if not /)
                wanted[name] = 1
    }
    END { for (name in wanted) if (!index(text, name)) print name }
' tests/meson.build)
[ -z "$missing" ] || { echo "not in the lists of tests/meson.build: $missing"; failed=1; }
here=$(mktemp -d) || exit 1
trap 'rm -rf "$here"' EXIT
mkdir -p "$here/bin" "$here/build/meson-logs"
printf '#!/bin/sh\nexit 0\n' >"$here/bin/ninja"
cp "$here/bin/ninja" "$here/bin/meson"
chmod +x "$here/bin/ninja" "$here/bin/meson"
cat >"$here/build/meson-logs/testlog.json" <<'END'
{"name": "own:cases / one", "stdout": "3 passed, 1 failed\n", "result": "FAIL"}
{"name": "own:cases / two", "stdout": "a line\nno \u201ctool\u201d\n", "result": "SKIP"}
{"name": "own:cases / tests/three.c", "result": "SKIP"}
{"name": "own:cases / four", "stdout": "left out: a comparison (no tool)\nleft out: another (none)\n9 passed, 0 failed\n", "result": "OK"}
{"name": "own:cases / five", "result": "OK"}
END
(cd "$here" && PATH="$here/bin:$PATH" "$1/tools/test" build) >"$here/out"
cat >"$here/expected" <<'END'
4 skipped
skipped in build: no \u201ctool\u201d: two
skipped in build: it does not say why: tests/three.c
skipped in build: no tool: four (a comparison)
skipped in build: none: four (another)
13 passed, 1 failed
END
cmp -s "$here/out" "$here/expected" || { echo "tools/test says:"; cat "$here/out"; failed=1; }
exit $failed
