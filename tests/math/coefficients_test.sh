#!/bin/sh
# The math library's coefficients are those that its scripts print: coefficients_test.sh SOURCE_FOLDER
# SPDX-License-Identifier: Apache-2.0
#
# A coefficient is the last thing on a line that a script prints; lines of errors begin with this word. Powers of two may
# be written in other ways.
command -v sollya >/dev/null || { echo "sollya is missing"; exit 77; }
cd "$1/src/math" || exit 1
sources=$(mktemp) && printed=$(mktemp) && trap 'rm -f "$sources" "$printed"' EXIT
cat ./*.c ./*.h | grep -oE '0x[0-9a-f.]+p[-+]?[0-9]+' | sort -u >"$sources"
bad=0
for script in ${2:-poly/*.sollya}; do
    sollya "$script" </dev/null 2>&1 | grep -v '^error' |
        sed -nE 's/^(.*[^0-9a-fxp.+-])?-?(0x[0-9a-f.]+p[-+]?[0-9]+) *$/\2/p' | grep -vE '^0x1p' | sort -u >"$printed"
    [ -s "$printed" ] || { echo "$script prints no coefficients"; bad=1; }
    for c in $(comm -23 "$printed" "$sources"); do
        echo "$script: $c stands in no source"
        bad=1
    done
done
exit $bad
