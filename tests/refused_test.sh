#!/bin/sh
# Kernels whose derivative would be wrong or depend on chance are refused, in each form that their second line names, with
# the error that it names; their forward kernel is not.
#   refused_test.sh RGC FOLDER
failed=0
passed=0
for file in "$2"/*.c; do
    kernel=$(basename "$file" .c)
    forms= code= options=
    for word in $(sed -n 's,^// refused: ,,p' "$file"); do
        case $word in
        E0*) code=$word ;;
        *) [ -n "$code" ] && options="$options $word" || forms="$forms $word" ;;
        esac
    done
    [ -n "$code" ] && [ -n "$forms" ] || { echo "$file does not say what is refused"; failed=$((failed + 1)); continue; }
    for form in $forms; do
        # shellcheck disable=SC2086
        said=$("$1" ir "$file" "$kernel" --form "$form" $options 2>&1 >/dev/null)
        case $said in
        *"error[$code]"*) passed=$((passed + 1)) ;;
        *) echo "$kernel, $form: no $code but: $said"; failed=$((failed + 1)) ;;
        esac
    done
    case $code in
    E05*) "$1" ir "$file" "$kernel" >/dev/null 2>&1 || { echo "$kernel: the forward kernel is refused too"; failed=$((failed + 1)); } ;;
    esac
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed != 0 ]
