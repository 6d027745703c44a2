# What tests of rgc from the outside share: each runs it in a folder of its own. SPDX-License-Identifier: Apache-2.0
#   . expect.sh      after $rgc is set; the caller prints "$passed passed, $failed failed" in the end
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAIL: $1"
    sed 's/^/    /' out err 2>/dev/null | head -20
}
# expect CODE WORDS... : runs rgc; its exit code must be CODE
expect() {
    code=$1
    shift
    "$rgc" "$@" >out 2>err
    found=$?
    [ $found -eq "$code" ] && pass || fail "rgc $* ended with $found, not $code"
}
# says TEXT: a line of the last run's output or messages holds it
says() { grep -qF -- "$1" out err && pass || fail "nothing says \"$1\""; }
