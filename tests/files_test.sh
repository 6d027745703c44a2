#!/bin/sh
# C files as they lie on the disk: headers, options, compile_commands.json, and errors that concern nobody.
# SPDX-License-Identifier: Apache-2.0
#   files_test.sh RGC
rgc=$(realpath "$1")
. "$(dirname "$0")/expect.sh"
says_not() { grep -qF -- "$1" out err && fail "something says \"$1\"" || pass; }
gives() { grep -qxF -- "return: $1" out && pass || fail "it does not return $1"; }

# -- a file full of what concerns no kernel ---------------------------------------------------------
cat >mess.c <<'END_OF_FILE'
#include "no_such.h"
#include <no/such/either.h>
#include <stdio.h>
#include <unistd.h>
#include <math.h>
typedef missing_t vec[3];
struct s { missing_t a; double b; };
enum { SIZE = missing_constant };
int g = f();
static void calls(void) { undeclared(3); *2; }
outer(a, b) int a; float b; { int in(int x) { return x + a; } return in(b); }
static int other(void) { return "text" + 2.0; }
int main(int argc, char **argv)
{
    asm("bogus %0" : "=q9"(g));
    double x = "a";
    pthread_t t = pthread_create(&t, 0, 0, 0);
    return ({ int y = strcmp(argv[0], "x"); y; });
}
static inline double sq(double x) { return x * x; }
static double twice(double x) { return 2 * x; }
double square(double x) { return sq(x); }
/* these do */
double with_type(double x) { vec v; return x; }
double with_field(double x, struct s p) { return x * p.b; }
double with_constant(double x) { return x * SIZE; }
double with_global(double x) { return x * g; }
static double inner(double x) { return x + undeclared_variable; }
double with_callee(double x) { return inner(x); }
double with_implicit(double x) { return x + undeclared_function(x); }
/* what gcc takes with a warning */
static float old(a, b) int a; float b; { return a * b; }
static number(x) double x; { return x * 2; }
double old_style(double x) { return old(3, x) + number(x) + later(3) + fabs(x); }
double unconverted(double x) { return later(x); }
int later(int n) { return n + 1; }
END_OF_FILE
for kernel in square sq; do
    expect 0 run mess.c $kernel x=3
    gives "f64[] = 9"
done
expect 0 run mess.c twice x=3 --vjp return=1
says "x.adj: f64[] = 2"
expect 0 run mess.c old_style x=2.5
gives "f64[] = 19"
expect 1 run mess.c unconverted x=2.5
says "error[E0407]"
expect 1 run mess.c with_type x=3
says "mess.c:6:9: error[E0400]: unknown type name 'missing_t'"
says "mess.c:1:10: note: 'no_such.h' file not found"
says "mess.c:2:10: note: 'no/such/either.h' file not found"
says "name its folder with -I"
says_not "undeclared"
expect 1 run mess.c with_field x=3
says "mess.c:7:12: error[E0400]: unknown type name 'missing_t'"
expect 1 run mess.c with_constant x=3
says "mess.c:8:15: error[E0400]: use of undeclared identifier 'missing_constant'"
expect 1 run mess.c with_global x=3
says "mess.c:9:9: error[E0400]: initializer element is not a compile-time constant"
expect 1 run mess.c with_callee x=3
says "error[E0400]: use of undeclared identifier 'undeclared_variable'"
expect 1 run mess.c with_implicit x=3
says "error[E0414]"
says "mess.c:1:10: note: 'no_such.h' file not found"
expect 1 run mess.c squares x=3
says "there is no kernel \`squares\` (there is outer, square, with_type"
says_not "E0400"

# a kernel that clang cannot see, and why
printf 'double lost(double x) { return x * (; }\nstruct { double lost2(double x) { return x; }\n' >lost.c
expect 1 run lost.c lost2 x=1
says "error[E0400]"
says "error[E0401]: there is no function \`lost2\`"
# what clang leaves out of a kernel because of errors elsewhere
cat >left_out.c <<'END_OF_FILE'
static double f(foo_t x, double z) { return z; }
static int spacer_1;
missing_t glob = 3;
static int spacer_2;
static double g(double x, y) { return x; }
static double h(double x, y[2]) { return x; }
struct s { missing_t a; double b; };
#define CALL(x) f(x, 1.0)
enum { FOUR = four, FIVE = 5 };
double by_call(double x) { double y = 1; y = f(x, 2.0); return y; }
double by_effect(double x) { f(x, 2.0); return x; }
double by_test(double x) { double y = 1; if (f(x, 2.0)) y = 2; return y; }
double by_choice(double x) { return x * (1 ? 2 : f(x, 1)); }
double by_macro(double x) { return x + CALL(x); }
double by_global(double x) { return x + glob; }
double by_size(double x) { return sizeof(struct s) * x; }
double by_constant(double x) { return x + FIVE; }
double by_untyped(double x) { return g(x, 1); }
double by_untyped_array(double x) { return h(x, 0); }
double none(double x) { return x; /* not f, nor glob */ }
END_OF_FILE
for kernel in by_call:1:17 by_effect:1:17 by_test:1:17 by_choice:1:17 by_macro:1:17 by_global:3:1 by_size:7:12 by_constant:9:15 \
    by_untyped:5:27 by_untyped_array:6:27; do
    expect 1 run left_out.c ${kernel%%:*} x=3
    says "left_out.c:${kernel#*:}: error[E0400]"
done
expect 0 run left_out.c none x=3

# directives concern everybody; so does what contradicts what a kernel uses
printf '#if f(3)\n#endif\ndouble k(double x) { return x; }\n' >directive.c
expect 1 run directive.c k x=1
says "directive.c:1:5: error[E0400]"
printf '#error not so\ndouble k(double x) { return x; }\n' >stop.c
expect 1 run stop.c k x=1
says "stop.c:1:2: error[E0400]: not so"
printf 'typedef float real;\ntypedef double real;\ndouble k(double x) { return (real)x; }\ndouble h(double x) { return x; }\n' >twice.c
expect 1 run twice.c k x=1
says "twice.c:2:16: error[E0400]: typedef redefinition"
expect 0 run twice.c h x=1
printf 'double h(double x) { return x; }\nfoo bar baz;\ndouble k(double x) { return x; }\nint i;\ndouble l(double x) { return x; }\n' >between.c
expect 0 run between.c l x=1

# a macro that a missing header could define
cat >config.c <<'END_OF_FILE'
#ifdef ABOVE
#endif
#include "config.h"
#include "guarded.h"
#include <math.h>
#ifdef SINGLE
typedef float real;
#define REAL float
#else
typedef double real;
#define REAL double
#endif
#ifndef MOST
#define MOST 10
#endif
#define TWICE_MOST (2 * MOST)
#define LOUD 0
double plain(double x) { return fabs(x) + GUARDED; }
double decided(double x)
{
#if LOUD > 1 && defined(__GNUC__) /* words */ // words
    x += 1;
#endif
    return x;
}
double by_type(real x) { return x; }
REAL by_macro(double x) { return x; }
double by_default(double x) { return x * TWICE_MOST; }
double inside(double x)
{
#if defined TRACE
    x += 1;
#endif
    return x;
}
#ifndef NONE
double around(double x) { return x; }
#endif
END_OF_FILE
printf '#ifndef GUARDED_H\n#define GUARDED_H\n#define GUARDED 1\n#endif\n' >guarded.h
for kernel in plain:4 decided:3; do
    expect 0 run config.c ${kernel%:*} x=3
    gives "f64[] = ${kernel#*:}"
done
for kernel in by_type:SINGLE by_macro:SINGLE by_default:MOST inside:TRACE around:NONE; do
    expect 1 run config.c ${kernel%:*} x=3
    says "error[E0403]: whether \`${kernel#*:}\` is defined is not known: 'config.h' file not found"
    expect 0 run config.c ${kernel%:*} x=3 -U ${kernel#*:}
done
touch config.h
expect 0 run config.c by_type x=3

# -- headers ----------------------------------------------------------------------------------------
cat >headers.c <<'END_OF_FILE'
#include <stdio.h>
#include <assert.h>
#include <math.h>
#include <limits.h>
static FILE *log_file;
double k(double x) { assert(x < INT_MAX); return isinf(x) ? NAN : x * M_PI; }
void report(double x) { fprintf(log_file ? log_file : stderr, "%f\n", x); }
END_OF_FILE
same_everywhere() {
    expect 0 run headers.c k x=2 "$@"
    gives "f64[] = 6.2831853071795862"
}
same_everywhere
same_everywhere -nostdinc
same_everywhere -I /usr/include
same_everywhere -isystem /usr/include/
for compiler in '' /no/such/compiler false true gcc 'gcc -m64' clang 'echo ; touch hit'; do
    CC=$compiler
    export CC
    same_everywhere
    same_everywhere -I /usr/include
done
[ ! -e hit ] && pass || fail "a shell read CC"
# one that does not end, and what it started
printf '#!/bin/sh\nsleep 97.%s &\nsleep 97.%s\n' $$ $$ >slow
chmod +x slow
CC=$work/slow
same_everywhere
ps -e -o args= 2>/dev/null | grep -qx "sleep 97.$$" && fail "what the compiler started goes on" || pass
# one that has no end of what to say, and one that says no more and goes on
printf '#!/bin/sh\nexec yes "a line that is not the last" >&2\n' >noisy
printf '#!/bin/sh\nexec sleep 97 2>&-\n' >mute
chmod +x noisy mute
for compiler in noisy mute; do
    CC=$work/$compiler timeout 30 "$rgc" run headers.c k x=2 >out 2>err
    [ $? = 0 ] && pass || fail "rgc waits for the compiler $compiler"
done
unset CC
# where the standard files are closed, the pipe to the compiler is one of them
printf '#include <sys/mman.h>\ndouble k(double x) { return PROT_READ * x; }\n' >mapped.c
if "$rgc" run mapped.c k x=2 >out 2>err; then
    "$rgc" run mapped.c k x=2 <&- >&- 2>&- && pass || fail "the compiler is not asked where the standard files are closed"
fi

# the folder that a compiler names is searched
mkdir -p deep/include
echo 'typedef double real_of_deep;' >deep/include/deep.h
printf '#!/bin/sh\n{ echo "#include <...> search starts here:"; echo " %s"; echo "End of search list."; } >&2\n' \
    "$work/deep/include" >names
chmod +x names
printf '#include <deep.h>\nreal_of_deep k(real_of_deep x) { return 3 * x; }\n' >deep.c
CC=$work/names "$rgc" run deep.c k x=2 >out 2>err && gives "f64[] = 6" || fail "a folder that CC names is not searched"
expect 1 run deep.c k x=2
says "deep.c:1:10: note: 'deep.h' file not found"

# -- options ----------------------------------------------------------------------------------------
cat >options.c <<'END_OF_FILE'
#ifdef WANTED
double k(double x) { return x * WANTED + (char)200; }
#endif
#if __STDC_VERSION__ == 199901L
double c99(double x) { return x; }
#endif
END_OF_FILE
echo '#define WANTED 5' >wanted.h
for command in run check ir explain; do
    arguments=
    [ $command != run ] || arguments=x=2
    expect 0 $command options.c k $arguments -DWANTED=3 -O3 -Wall -Wextra -Werror -march=native -g -fopenmp -fPIC -pthread \
        -std=gnu99 -pedantic -lm -L. -MMD -MF k.d -c -pipe -w -isystem deep -iquote . -idirafter deep -ffp-contract=off
done
for command in build grad; do
    expect 0 $command options.c k -o k.o -DWANTED=3 -O3 -Wall -march=native -include math.h
done
expect 0 run options.c k x=2 -D WANTED=3
gives "f64[] = -50"
expect 0 run options.c k x=2 -D WANTED=3 -funsigned-char
gives "f64[] = 206"
expect 0 run options.c k x=2 -include wanted.h
gives "f64[] = -46"
expect 0 run options.c k x=2 -DWANTED=1 -UWANTED -DWANTED=4
gives "f64[] = -48"
expect 1 run options.c k x=2 -DWANTED=3 -UWANTED
expect 0 run options.c c99 x=2 -std=c99
expect 1 run options.c c99 x=2
expect 1 run options.c k x=2 -include no_such.h -DWANTED=1
says "'no_such.h' file not found"
expect 1 run options.c k x=2 -std=c87
says "-std=c87"
expect 2 run options.c k x=2 -mode split
says "there is \`--mode\`"

# -- compile_commands.json --------------------------------------------------------------------------
mkdir -p project/src/deep project/include project/build/sub
cat >project/src/deep/kernel.c <<'END_OF_FILE'
#include "config.h"
#include <more.h>
double k(double x) { return x * FROM_CONFIG + FROM_MORE + FROM_LINE + FORCED; }
END_OF_FILE
echo '#define FROM_CONFIG 10' >project/include/config.h
mkdir project/more
echo '#define FROM_MORE 200' >project/more/more.h
echo '#define FORCED 4000' >project/build/sub/forced.h
cat >project/compile_commands.json <<END_OF_FILE
[ { "directory": "$work/project/build/sub", "file": "../../src/deep/other.c", "command": "cc -DFROM_LINE=1 -c x.c" },
  { "directory": "$work/project/build/sub", "file": "../../src/deep/kernel.c",
    "command": "gcc -I../../include -isystem ../../more -DFROM_LINE=30000 -include forced.h -O2 -Wall -std=gnu11 -o kernel.o -c ../../src/deep/kernel.c" } ]
END_OF_FILE
expect 0 run project/src/deep/kernel.c k x=2
gives "f64[] = 34220"
expect 0 run project/src/deep/kernel.c k x=2 -DFROM_LINE=7
gives "f64[] = 4227"
mv project/compile_commands.json project/build/
cd project/src || exit 1
expect 0 run deep/kernel.c k x=2
gives "f64[] = 34220"
cd "$work" || exit 1
cp project/src/deep/kernel.c project/src/deep/unlisted.c
expect 1 run project/src/deep/unlisted.c k x=2
says "'config.h' file not found"
echo '[ { "directory": broken kernel.c' >project/build/compile_commands.json
expect 1 run project/src/deep/kernel.c k x=2

# -- bodies and constants of further files ----------------------------------------------------------
mkdir -p with/lib with/two with/build
cat >with/vec.h <<'END_OF_FILE'
struct vec { double x, y, *p; };
typedef struct { double k; int n; } setting;
double dot(const double *a, const double *b, int n);
double norm(struct vec v);
void scale(struct vec *v, double by);
double twice(double x);
extern const double table[3];
extern setting settings;
extern double changed, zero;
END_OF_FILE
cat >with/a.c <<'END_OF_FILE'
#include "vec.h"
static double helper(double x) { return x + 1; }
double f(const double *a, const double *b, int n) { return dot(a, b, n) + helper(1); }
double g(double x) { struct vec v = {x, 2, 0}; scale(&v, 3); return norm(v); }
double h(double x) { return twice(x) * table[1] + settings.k; }
double callback(double x) { return 10 * x; }
double m(double x) { return changed * x; }
double z(double x) { return zero + x; }
double zero;
double sums(double x) { double s = twice(x); for (int i = 0; i < 3; i++) s += twice(x + i); return s + twice(2); }
double prints(double x) { return snprint(x); }
END_OF_FILE
cat >with/lib/b.c <<'END_OF_FILE'
#include "../vec.h"
#include <math.h>
static double helper(double x) { return 2 * x; }
static double unrelated(double x) { missing_t y; return x + undeclared; }
double dot(const double *a, const double *b, int n)
{
    double s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return helper(s);
}
double norm(struct vec v) { return sqrt(v.x * v.x + v.y * v.y); }
void scale(struct vec *v, double by) { v->x *= by; v->y *= by; }
END_OF_FILE
cat >with/lib/c.c <<'END_OF_FILE'
#include "../vec.h"
double callback(double);
const double table[3] = {1, 2, 3};
setting settings = {.k = K};
double twice(double x) { return 2 * callback(x); }
double changed = 3;
END_OF_FILE
cd with || exit 1
expect 0 run a.c f a=1,2 b=3,4 n=2 --vjp return=1 --with lib/b.c
says "return: f64[] = 24"
says "a.adj: f64[2] = 6 8"
expect 0 run a.c g x=1 --with lib
gives "f64[] = 6.7082039324993694"
expect 0 run a.c h x=1.5 --with lib/b.c --with lib/c.c -DK=0.5
gives "f64[] = 60.5"
expect 0 run a.c m x=1.5 --with lib
gives "f64[] = 4.5"
expect 0 run a.c z x=1.5 --with lib
gives "f64[] = 1.5"
expect 0 check a.c f n=8 --with lib
expect 0 list a.c f --with lib
expect 0 build a.c f --with lib -o f.o
expect 0 explain a.c f --with lib/
says "lib/b.c:"
says "    5 | double dot(const double *a, const double *b, int n)"
# what another file writes is no constant
printf '#include "../vec.h"\nvoid writes(void) { changed = 4; zero = 2; }\n' >lib/w.c
expect 1 run a.c m x=1.5 --with lib
says "lib/c.c:6:1: error[E0421]: \`changed\` is a variable that outlives the call, and \`writes\` may write it"
expect 1 run a.c z x=1.5 --with lib/w.c
says "a.c:9:1: error[E0421]: \`zero\`"
rm lib/w.c
# without the file: which one it is, if it lies beside; one error for all calls
expect 1 run a.c h x=1
says "error[E0463]: \`settings\` is defined in another file"
says "error[E0414]: \`twice\` has no body here"
says "name the file that defines it with --with FILE"
cp lib/c.c beside.c
expect 1 run a.c sums x=1
says "a.c:10:36: error[E0414]: \`twice\` has no body here (and 2 more calls)"
says "beside.c defines it: add --with beside.c"
expect 1 run a.c h x=1
says "beside.c defines it: add --with beside.c"
rm beside.c
cd ..
cp with/lib/c.c with/beside.c
expect 1 run with/a.c sums x=1
says "with/beside.c defines it: add --with with/beside.c"
rm with/beside.c
cd with || exit 1
expect 1 run a.c f a=1 b=1 n=1 --with lib --with no_such.c
says "error[E0402]: cannot read \`no_such.c\`"
# two definitions
cp lib/b.c two/b.c
expect 1 run a.c f a=1 b=1 n=1 --with lib --with two
says "lib/b.c:5:8: error[E0404]: \`dot\` is defined here and in two/b.c:5"
expect 0 run a.c h x=1.5 --with lib --with two -DK=0.5
# a file that is named takes the place of one of a folder
printf 'double dot(const double *a, const double *b, int n) { return 100; }\n' >two/mine.c
expect 0 run a.c f a=1 b=1 n=1 --with lib --with two/mine.c
gives "f64[] = 102"
rm two/mine.c
# the file itself and its folder
cp lib/b.c .
expect 0 run a.c f a=1,2 b=3,4 n=2 --with .
rm b.c
# each file is a unit of its own: what does not fit, errors there, and what clang wants to see twice
cat >s1.c <<'END_OF_FILE'
struct s { int a; double b; };
double use(struct s *p), other(int n, double x), broken(double x), fine(double x), in_macro(double x);
double call(double x) { struct s v = {1, x}; return use(&v); }
double call2(double x) { return other(1, x); }
double call3(double x) { return undeclared_fn(x); }
double rec1(double x, int n) { double rec2(double, int); return n ? rec2(x, n - 1) : x; }
typedef double (*fp)(double);
double triple(double), apply(fp f, double x), both(double x), old_style(double x, double y);
double call4(double x) { return apply(triple, x); }
struct opaque;
double value(const struct opaque *o);
double forward(struct opaque *o) { return value(o); }
double call5(double x) { return both(x) + fine(x); }
double call6(double x) { return broken(x); }
extern int sizes[];
double call7(double x) { return sizes[1] * x + old_style(x, 2) + in_macro(x); }
void step(double *x, void *user);
double call8(double x) { step(&x, 0); return x; }
END_OF_FILE
cat >s2.c <<'END_OF_FILE'
struct s { double b; int a; };
double use(struct s *p) { return p->b; }
double other(double x) { return x; }
double undeclared_fn(double x) { return x; }
double rec1(double x, int n);
double rec2(double x, int n) { return rec1(x, n); }
typedef double (*fp)(double);
double apply(fp f, double x) { return f(x) + 1; }
double triple(double x) { return 3 * x; }
struct opaque { double x; };
double forward(struct opaque *o);
double value(const struct opaque *o) { return o ? o->x : 0; }
double both(double x) { struct opaque o = {x}; return forward(&o) + forward(0); }
double broken(double x) { unknown y; return x; }
double fine(double x) { return 3 * x; }
int sizes[3] = {4, 5, 6};
void step(double *x, double *user) { *x += 1; }
#define MAKE(name) double name(double x) { return 7 * x; }
MAKE(in_macro)
double old_style(x, y) double x; double y; { return x * y; }
END_OF_FILE
expect 1 run s1.c call x=1 --with s2.c
says "s1.c:1:1: error[E0406]: \`struct s\` has other fields here than in s2.c:1, for \`use\`"
expect 1 run s1.c call2 x=1 --with s2.c
says "s1.c:2:26: error[E0405]: \`other\` is declared here with other types than where it is defined, s2.c:3"
expect 1 run s1.c call3 x=1 --with s2.c
says "s1.c:5:33: error[E0405]: \`undeclared_fn\`"
expect 1 run s1.c call8 x=1 --with s2.c
says "error[E0405]: \`step\`"
expect 1 run s1.c rec1 x=1 n=3 --with s2.c
says "s2.c:6:39: error[E0411]: \`rec1\` calls itself"
expect 1 run s1.c call6 x=1 --with s2.c
says "s2.c:14:27: error[E0400]: use of undeclared identifier 'unknown'"
says_not "E0414"
expect 0 run s1.c call4 x=1.5 --with s2.c
gives "f64[] = 5.5"
expect 0 run s1.c call5 x=1.5 --with s2.c
gives "f64[] = 6"
expect 0 run s1.c call7 x=1.5 --with s2.c
gives "f64[] = 21"
# what compile_commands.json lists beside the file, each with its own options
cat >build/compile_commands.json <<END_OF_FILE
[ { "directory": "$work/with", "file": "a.c", "command": "cc -c a.c" },
  { "directory": "$work/with", "file": "lib/c.c", "command": "cc -DK=100 -c lib/c.c" },
  { "directory": "$work/with", "file": "lib/b.c", "command": "cc -c lib/b.c" },
  { "directory": "$work/with", "file": "lib/gone.c", "command": "cc -c lib/gone.c" },
  { "directory": "$work/with", "file": "lib/b.c", "command": "cc -O2 -c lib/b.c" } ]
END_OF_FILE
expect 0 run a.c h x=1.5
gives "f64[] = 160"
expect 0 run a.c f a=1,2 b=3,4 n=2
gives "f64[] = 24"
expect 1 run a.c prints x=1
says "error[E0414]: \`snprint\` has no body here"
cp lib/c.c c2.c
expect 1 run a.c h x=1.5 --with c2.c -DK=7
says "c2.c:4:1: error[E0400]: unknown type name 'setting'"
says "c2.c:1:10: note: '../vec.h' file not found"
says_not "E0405"
sed 's|\.\./||' lib/c.c >c2.c
expect 0 run a.c h x=1.5 --with c2.c -DK=7
gives "f64[] = 67"
sed 's/"lib.gone.c"/"c2.c"/' build/compile_commands.json >new && mv new build/compile_commands.json
expect 1 run a.c h x=1.5
says "error[E0404]: \`twice\` is defined here and in"
cd "$work" || exit 1

# -- what reports to the user and ends the program ---------------------------------------------------
cat >report.c <<'END_OF_FILE'
#include <stdio.h>
#include <stdlib.h>
#include <stdarg.h>
static void die(const char *why, double x) { fprintf(stderr, "error: %s at %g\n", why, x); fflush(stderr); exit(1); }
static _Noreturn void stop(const char *f, ...) { va_list l; va_start(l, f); vfprintf(stderr, f, l); va_end(l); abort(); }
__attribute__((noreturn)) void elsewhere(const char *f, ...);
void warn(const char *f, ...);
double k(double x) { if (x < 0) die("negative", x); return x * x; }
double m(double x) { if (x < 0) stop("x is %g", x); return x * x; }
double e(double x) { if (x < 0) elsewhere("no x", x); return x * x; }
double w(double x) { if (x < 0) warn("x is %g", x); return x * x; }
double p(double x) { puts("fine"); fputs("50%\n", stdout); putchar('a'); fputc('\n', stderr); return x; }
struct message { int level; char text[64]; };
static void log_it(const struct message *m) { if (m->level > 1) abort(); }
double s(double x)
{
    char buffer[32];
    struct message m = {.level = 2};
    sprintf(buffer, "%g", x);
    if (x < 0) { snprintf(m.text, sizeof m.text, "x is %g", x); log_it(&m); }
    return x * x;
}
double r(double x) { char c[9]; snprintf(c, sizeof c, "%g", x); return c[0] * x; }
double before(double x) { char c[9] = "a"; for (int i = 0; i < 2; i++) { x *= c[0]; sprintf(c, "%g", x); } return x; }
int counts(double x) { char c[9]; return snprintf(c, sizeof c, "%g", x); }
void shown(double x, char c[9]) { sprintf(c, "%g", x); }
double f(double x) { FILE *to = fopen("x", "w"); fprintf(to, "a"); return x; }
END_OF_FILE
for kernel in k m e; do
    expect 0 run report.c $kernel x=2 --vjp return=1
    says "x.adj: f64[] = 4"
done
expect 1 run report.c k x=-2
says "error: negative at -2"
says "report.c:4: assertion failed: exit()"
expect 1 run report.c m x=-2
says "report.c:9: assertion failed: x is %g"
expect 1 run report.c e x=-2
says "report.c:10: assertion failed: no x"
expect 1 run report.c w x=-2
says "error[E0414]: \`warn\` has no body here"
echo '#include <stdlib.h>
void warn(const char *f, ...) { abort(); }' >warn.c
expect 1 run report.c w x=-2 --with warn.c
says "warn.c:2: assertion failed: abort()"
expect 0 run report.c p x=2
grep -qx "50%" out && grep -qx "a" out && pass || fail "it does not print"
expect 0 run report.c s x=2
expect 1 run report.c s x=-2
says "assertion failed: abort()"
for kernel in r before; do
    expect 1 run report.c $kernel x=1
    says "error[E0475]: what snprintf writes to \`c\` is read"
done
expect 1 run report.c counts x=1
says "error[E0414]: \`snprintf\` has no body here"
expect 1 run report.c shown x=1 c=zeros
says "error[E0414]: \`sprintf\` has no body here"
expect 1 run report.c f x=1
says "error[E0476]: \`fprintf\` writes to a file"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
