#!/bin/sh
# prints_test.sh RGC DEVICE: kernels print the same there as on device simt, in some order, and what did not fit is counted.
# SPDX-License-Identifier: Apache-2.0
rgc=$1 device=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/prints.c" <<'END'
#include <stdio.h>
void prints(int n, const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = 2 * x[i];
        printf("%d: %g, doubled %g\n", i, (double)x[i], (double)y[i]);
    }
}
END
for n in 70 100000; do
    for on in simt "$device"; do
        "$rgc" run --device "$on" "$folder/prints.c" prints "n=$n" x=ones y=zeros >"$folder/said" 2>&1 || { cat "$folder/said"; exit 1; }
        sort "$folder/said" >"$folder/$n.$on"
    done
done
[ "$(grep -c doubled "$folder/70.$device")" = 70 ] || { echo "not all is printed"; exit 1; }
diff "$folder/70.simt" "$folder/70.$device" || exit 1
kept=$(grep -c doubled "$folder/100000.$device")
grep -q "($((100000 - kept)) more prints did not fit" "$folder/100000.$device" ||
    { echo "$kept are printed"; tail -2 "$folder/100000.$device"; exit 1; }
