#!/bin/sh
# spirv_generated.sh GEN SPIRV_TEST VALIDATOR FIRST COUNT
# The SPIR-V of generated programs, in every form and for devices of all kinds, is valid.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for seed in $(seq "$4" $(($4 + $5 - 1))); do
    "$1" "$seed" unordered >"$folder/$seed.c" || exit 1
done
"$2" --val "$3" --every 3 "$folder"/*.c
