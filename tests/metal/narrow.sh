#!/bin/sh
# narrow.sh FOLDER TO: copies of the folder's cases in which double is float. Lines of comments, which have the values, stay as they are; left
# out are cases that would be no C then. SPDX-License-Identifier: Apache-2.0
functions='sqrt|fabs|fmin|fmax|fma|floor|ceil|round|rint|trunc|fmod|copysign|ldexp|exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|cbrt|hypot|erf|erfc|fdim|nextafter|remainder|tgamma|lgamma|logb|scalbn|frexp'
number='([0-9]+\.[0-9]*(e[-+]?[0-9]+)?|\.[0-9]+(e[-+]?[0-9]+)?|[0-9]+e[-+]?[0-9]+)'
literal="s/([^A-Za-z0-9_.]|^)$number([^A-Za-z0-9_.]|\$)/\1\2f\5/g"
mkdir -p "$2"
for file in "$1"/*.c; do
    name=${file##*/}
    case $name in
    function_tables.c | op_modf.c | memory_copies.c | bits_and_back.c | bits_of_float.c) continue ;;
    esac
    sed -E -e '/^\/\//b' -e 's/\bdouble\b/float/g' -e 's/\blong float\b/float/g' -e "$literal" -e "$literal" \
        -e "s/\b($functions)\(/\1f(/g" "$file" > "$2/$name.new"
    cmp -s "$2/$name.new" "$2/$name" && rm "$2/$name.new" || mv "$2/$name.new" "$2/$name"
done
