#!/bin/sh
# A function of the core has a name that no other file of src defines, so that grep and a backtrace tell which one is meant.
#   names_test.sh ROOT
cd "$1" || exit 1
core='^src/(ir|analysis|opt|diff|plan|tape|lanes|gpu|pipeline|codegen|check|api)/'
find src -name '*.[ch]' -exec awk '
    FNR > 1 && /^[a-z_0-9]+\(/ && before ~ /^[a-z].*[a-z_0-9) *]$/ { print substr($0, 1, index($0, "(") - 1), FILENAME }
    { before = $0 }' {} + | sort -u |
awk -v core="$core" '
    { n[$1]++; files[$1] = files[$1] " " $2; in_core[$1] += $2 ~ core }
    END {
        for (f in n) if (n[f] > 1 && in_core[f] && f != "main") { twice++; print f " is defined in" files[f] }
        exit twice > 0 || NR == 0
    }'
