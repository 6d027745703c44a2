#!/bin/sh
# bench/realc/run.py on a repository of our own. SPDX-License-Identifier: Apache-2.0
#   realc_test.sh RGC RUN.PY
python3 -c 'import numpy' 2>/dev/null || { echo "python3 has no numpy"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/own" "$work/own/lib"
cat >"$work/own/main.c" <<'END'
#include <math.h>
#include <unistd.h>
double twice(double x);
static double sum(int n, const double *x) { double s = 0; for (int i = 0; i < n; i++) s += twice(x[i]); return s; }
void wave(int n, float a[n][n], const int which[n]) { for (int i = 0; i < n; i++) a[which[i] % n][i] = sinf(a[i][which[i] % n]); }
void leave(double x[1]) { goto out; out: x[0] = 1; }
struct lever { int n; double mass, *at, with[2]; };
double turn(struct lever *l, double by) { double s = 0; for (int i = 0; i < l->n; i++) s += l->mass * (l->at[i] *= by); l->mass *= l->with[1]; return s; }
int main(void) { return (int)getpid(); }
END
echo 'double twice(double x) { return 2 * x; }' >"$work/own/lib/twice.c"
cat >"$work/list" <<'END'
[own]
url = nowhere
flags = --with lib
main.c sum n=5
main.c wave
main.c turn l.n=5
main.c leave ! goto
[other]
url = elsewhere
far.c away
END
python3 "$2" --rgc "$1" --cc cc --list "$work/list" "$work" >"$work/out" 2>&1
code=$?
failed=0
says() { grep -q "$1" "$work/out" || { echo "FAIL: nothing says \"$1\""; failed=1; }; }
[ $code = 0 ] || { echo "FAIL: it ended with $code"; failed=1; }
says 'passes *own *sum *the same bits'
says 'passes *own *wave *[0-9.e-]* of what it may differ\|passes *own *wave *the same bits'
says 'passes *own *turn *the same bits'
says 'refused *own *leave .*E0410'
says 'expected: goto'
says 'absent *other *away'
says '^3 of 4 pass (75 %)'
[ $failed = 0 ] || cat "$work/out"
exit $failed
