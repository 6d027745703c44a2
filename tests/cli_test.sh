#!/bin/sh
# rgc from the outside: exit codes, files, messages. SPDX-License-Identifier: Apache-2.0
#   cli_test.sh RGC LIBRGRT.A
rgc=$(realpath "$1")
rgrt=$(realpath "$2")
. "$(dirname "$0")/expect.sh"
# holds FILE: it is there
holds() { [ -s "$1" ] && pass || fail "there is no $1"; }

cat >k.c <<'END'
#include <math.h>
#ifndef FACTOR
#define FACTOR 1
#endif
void ramp(int n, float x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = FACTOR * 0.25f * (i + 1);
}
void relax(int n, const int steps[n], const float x[n], float loss[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < steps[i]; t++) {
            if (v > 2.0f) break;
            v = sinf(v) + 0.1f;
        }
        #pragma omp atomic
        loss[0] += v;
    }
}
void cube(int n, double k, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = k * x[i] * x[i] * x[i];
}
void inplace(int n, int times, double x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int t = 0; t < times; t++)
            x[i] = sin(x[i]) + 0.5;
}
void shift(int n, int by, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = 2 * x[i + by];
}
struct body { double mass; int kind; double pos; };
void bodies(int n, double g, const struct body p[n], double f[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        f[i] = p[i].kind ? g * p[i].mass * p[i].pos : 0.0;
}
struct spring { double mass, k; };
void one_spring(struct spring s, double x[1]) { x[0] = s.k * s.mass * x[0]; }
double norm(int n, const double x[n])
{
    double s = 0;
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += x[i] * x[i];
    return s;
}
void matrix(int n, int m, const float a[n][m], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i] += a[i][j] * (j + 1);
}
void pointers(int n, int k, const double *x, double y[][k + 1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i][k] = x[i];
}
void broken(int n, float x[n]) { goto out; out: x[0] = 1; }
END

# -- usage -----------------------------------------------------------------------------------------
expect 2
expect 2 nothing
says 'there is no command `nothing`'
expect 0 --help
expect 0 --version
expect 0 help
says 'list     prints the kernels of a file'
expect 2 help nothing
says 'there is no command `nothing`'
for c in list run ir check build grad explain; do
    expect 0 $c --help
    says "usage: rgc $c"
    expect 0 help $c
    says "usage: rgc $c"
    expect 2 $c
    expect 2 $c k.c relax --frobnicate
    says 'unknown option `--frobnicate`'
done
for c in run ir check build grad explain; do
    expect 2 $c k.c
    says 'KERNEL is missing: k.c has ramp, relax, cube'
done
expect 2 explain k.c ramp n=1
says 'it takes FILE and KERNEL only, not `n=1`'
expect 2 run k.c ramp n
says '`n` is not NAME=VALUE'
expect 2 run k.c ramp n=3 --mode sideways
expect 2 run k.c ramp n=3 --repeat 0
expect 2 run k.c ramp n=3 --budget much
expect 2 run k.c ramp n=3 --out
says 'needs a value'
expect 2 ir k.c relax --stage nowhere
expect 2 ir k.c relax --form sideways

# -- forward runs and files ------------------------------------------------------------------------
expect 0 run k.c ramp n=4 x=zeros
says 'x: f32[4] = 0.25 0.5 0.75 1'
expect 1 run k.c ramp n=-1 x=zeros
says 'parameter `x` of kernel `ramp`: axis 0 would have -1 elements'
expect 1 run k.c ramp n=-1 x=1,2,3
says 'would have -1 elements'
expect 2 run k.c ramp n=4 x=zeros --threads 4097
says 'at most 4096'
expect 0 run k.c ramp n=4 x=zeros:4 -D FACTOR=2 --device interp
says 'x: f32[4] = 0.5 1 1.5 2'
expect 0 run k.c ramp n=4 x=ones --out some/where
holds some/where/x.npy
cp some/where/x.npy x.npy
expect 0 run k.c relax n=4 steps=ones x=x.npy loss=zeros:1
says 'loss: f32[1] = 2.64'
expect 0 run k.c matrix n=2 m=3 a=ones y=zeros
says 'y: f32[2] = 6 6'
expect 0 run k.c norm n=3 x=ones
says 'return: f64[] = 3'
expect 0 run k.c bodies n=2 g=2 p.mass=ones p.kind=ones p.pos=ones f=zeros
says 'f: f64[2] = 2 2'
expect 0 run k.c one_spring s.mass=2 s.k=3 x=ones
says 'x: f64[1] = 6'

# -- what there is in a file -----------------------------------------------------------------------
expect 0 list k.c
says 'k.c:44: bodies'
says '    p.kind  i32[n]  read'
says '    loss   f32[1]  read, written'
says '    return  f64     result'
says '    x  f64[...]      read'
says '    y  f64[?,k + 1]  written'
says 'broken: error[E0410]: goto is not compiled'
expect 1 list nowhere.c
says 'nowhere.c'
for c in explain ir build check; do
    expect 1 $c k.c nothing
    says 'there is no kernel `nothing` (there is ramp, relax, cube'
done

# -- what is refused -------------------------------------------------------------------------------
expect 1 run nowhere.c f
says 'nowhere.c: no such file'
expect 1 run k.c nothing
says 'there is no kernel `nothing`'
says 'relax'
expect 1 run k.c broken n=1 x=zeros
says 'k.c:'
says 'goto'
expect 1 run k.c ramp n=4
says 'kernel `ramp` has parameters that are not given: `x` (f32[n])'
says 'rgc run k.c ramp n=4 x=zeros'
# what is said can be run, with what was given
expect 1 run k.c relax n=3 'x=x of mine.npy' --vjp loss=ones
says '`steps` (i32[n]), `loss` (f32[1])'
says "rgc run k.c relax n=3 'x=x of mine.npy' --vjp loss=ones steps=ones loss=zeros"
for k in ramp relax cube inplace bodies one_spring norm matrix pointers; do
    expect 1 run k.c $k
    line=$(sed -n 's/^    rgc //p' err)
    [ -n "$line" ] && eval "expect 0 $line" || fail "$k has no example"
done
expect 1 run k.c pointers n=5 k=2
says 'x=ones:5 y=zeros:5,3'
expect 2 run k.c ramp n=4 x=zeros n=5
says '`n` is given twice: n=4 and n=5'
expect 2 check k.c ramp n=4 n=4
expect 2 run k.c relax n=4 steps=ones x=ones loss=zeros --vjp loss=ones --vjp loss=zeros
says '--vjp is given twice'
expect 2 run k.c ramp n=4 x=zeros --out -
says '--out names a folder'
expect 1 run k.c pointers n=5 k=2 x=ones y=zeros
says 'give the shape, as in x=zeros:8'
expect 1 run k.c ramp n=4 x=zeros y=1
says 'has no parameter `y`'
expect 1 run k.c ramp n=4.5 x=zeros:4
says 'parameter `n` is i32: `4.5` is not an integer'
expect 1 run k.c ramp n=4000000000000 x=zeros:4
says 'is i32: 4000000000000 does not fit'
expect 1 run k.c relax n=4 steps=1.5,2,3,4 x=ones loss=zeros
says 'parameter `steps` holds i32: `1.5` is not an integer'
expect 2 run k.c relax n=4 steps=ones x=ones loss=zeros --vjp loss
says 'write loss=ones, loss=0.5,1 or loss=FILE.npy'
expect 1 run k.c relax n=4 steps=ones x=ones loss=zeros --vjp loss=1,2
says 'parameter `loss` has 1 element, not 2'
expect 1 run k.c ramp n=4 x=zeros:5
says 'axis 0 must have 4 elements, the array has 5'
expect 1 run k.c ramp n=4 x=zeros:2,2
says 'rank'
expect 1 run k.c ramp n=4 x=3
says 'parameter `x` has 4 elements, not 1'
expect 1 run k.c ramp n=4 x=three
says 'is an array'
expect 1 run k.c cube n=4 k=1 x=x.npy y=zeros
says 'dtype is f32, parameter `x` needs f64'
expect 1 run k.c matrix n=2 m=2 a=x.npy y=zeros
says 'rank is 1, parameter `a` needs 2'
expect 1 run k.c ramp n=4 x=missing.npy
says 'missing.npy: no such file'
echo hello >junk.npy
expect 1 run k.c ramp n=4 x=junk.npy
says 'not a .npy file'
expect 1 run k.c ramp n=4 x=zeros --device quantum
says 'quantum'
expect 1 run k.c relax n=4 steps=ones x=x.npy loss=zeros --vjp steps=ones
says 'only floats have derivatives'
cat >contest.c <<'END'
void contest(int n, const int m[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        y[m[i]] *= x[i];
        y[i] = x[i];
    }
}
END
expect 1 ir contest.c contest --form forward_vjp
says 'contest.c:7:9: error[E0512]'
says 'contest.c:6:9: note[E0512]'
expect 1 ir contest.c contest --form jvp
says 'contest.c:7:9: error[E0512]'
cat >kinds.c <<'END'
void kinds(int n, int k, const int at[n], const double x[n], double a[k])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic compare
        if (x[i] < a[at[i]]) { a[at[i]] = x[i]; }
        #pragma omp atomic compare
        if (x[i] > a[k - 1 - at[i]]) { a[k - 1 - at[i]] = x[i]; }
    }
}
void picked(int n, int flag, const double x[n], double a[n], double b[n])
{
    double *p = b;
    if (flag) p = a;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic compare
        if (x[i] < a[0]) { a[0] = x[i]; }
        p[i] = 1;
    }
}
void running(int n, const double x[n], double a[n], double sum[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            #pragma omp atomic compare
            if (x[j] < a[j]) { a[j] = x[j]; }
            sum[i] += a[j];
        }
}
void counted(int n, const double x[n], int count[1], double a[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int k;
            #pragma omp atomic capture
            k = count[0]++;
            #pragma omp atomic compare
            if (x[i] < a[k % n]) { a[k % n] = x[i]; }
        }
}
void captured(int n, double x[n], double a[2], double out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double old;
        #pragma omp atomic capture
        { old = x[i]; x[i] += 1.0; }
        out[i] = old;
    }
}
END
for form in forward_vjp vjp jvp; do
    expect 1 ir kinds.c kinds --form $form
    says 'kinds.c:8:9: error[E0512]'
    says 'kinds.c:6:9: note[E0512]'
    expect 1 ir kinds.c picked --form $form
    says 'kinds.c:19:9: error[E0512]'
    expect 1 ir kinds.c running --form $form
    says 'kinds.c:29:23: error[E0512]'
    expect 1 ir kinds.c captured --form $form
    says 'kinds.c:50:9: error[E0511]'
done
for form in forward_vjp jvp; do
    expect 0 ir kinds.c counted --form $form
done
expect 1 ir kinds.c counted --form vjp
says 'kinds.c:39:13: error[E0530]'
cat >gone.c <<'END'
double gone(int n, const double x[n])
{
    double low[2] = {5, 5};
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic compare
        if (x[i] < low[1]) { low[1] = x[i]; }
    }
    return low[1];
}
END
expect 1 ir gone.c gone --form vjp
says 'gone.c:7:9: error[E0512]'
expect 0 run gone.c gone n=3 x=3,1,2 --vjp return=1
says 'x.adj: f64[3] = 0 1 0'
cat >two.c <<'END'
void two(int n, const double x[n], const double w[n], double a[2], double b[2])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic compare
        if (w[i] < a[0]) { a[0] = w[i]; }
        #pragma omp atomic compare
        if (x[i] < b[0]) { b[0] = x[i]; }
    }
}
END
expect 0 run two.c two n=3 x=3,1,2 w=3,1,2 a=5,5 b=5,5 --jvp x=10,20,30
says 'b.tan: f64[2] = 20 0'
says 'a.tan: f64[2] = 0 0'

# -- .npy files as others write them ---------------------------------------------------------------
# v1, column-major, 2 x 2: 1 2 / 3 4
header="{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }"
{ printf '\223NUMPY\001\000\166\000%-117s\n' "$header"; printf '\000\000\200\077\000\000\100\100\000\000\000\100\000\000\200\100'; } >fortran.npy
expect 0 run k.c matrix n=2 m=2 a=fortran.npy y=zeros
says 'y: f32[2] = 5 11'
# v2: a longer length
{ printf '\223NUMPY\002\000\164\000\000\000%-115s\n' "$header"; printf '\000\000\200\077\000\000\100\100\000\000\000\100\000\000\200\100'; } >v2.npy
expect 0 run k.c matrix n=2 m=2 a=v2.npy y=zeros
says 'y: f32[2] = 5 11'
{ printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 2), }"; printf '0123456789abcdef'; } >big.npy
expect 1 run k.c matrix n=2 m=2 a=big.npy y=zeros
says 'big-endian'
{ printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 9), }"; printf '0123456789abcdef'; } >short.npy
expect 1 run k.c matrix n=2 m=9 a=short.npy y=zeros
says 'cut short'

# -- derivatives -----------------------------------------------------------------------------------
expect 0 run k.c relax n=4 steps=ones x=x.npy loss=zeros --out r
cp r/loss.npy seed.npy
for device in interp cpu; do
    expect 0 run k.c cube n=2 k=2 x=ones y=zeros --vjp y=ones --device $device
    says 'x.adj: f64[2] = 6 6'
    says 'k.adj: f64[] = 2'
    says 'y.adj: f64[2] = 0 0'
    expect 0 run k.c cube n=2 k=2 x=ones y=zeros --vjp y=ones --mode split --device $device
    says 'x.adj: f64[2] = 6 6'
    expect 0 run k.c cube n=2 k=2 x=ones y=zeros --jvp x=ones --jvp k=ones --device $device
    says 'y.tan: f64[2] = 7 7'
    for mode in combined split; do
        expect 0 run k.c cube n=2 k=2 x=ones y=zeros --vjp y=ones --jvp x=ones --mode $mode --device $device
        says 'x.adj.tan: f64[2] = 12 12'
        says 'k.adj.tan: f64[] = 6'
        says 'y.tan: f64[2] = 6 6'
    done
    expect 0 run k.c norm n=3 x=ones --vjp return=ones --device $device
    says 'x.adj: f64[3] = 2 2 2'
    expect 0 run k.c bodies n=2 g=2 p.mass=ones p.kind=ones p.pos=ones f=zeros --vjp f=ones --out b --device $device
    holds b/f.npy
    holds b/p.mass.adj.npy
    holds b/g.adj.npy
    [ ! -e b/p.kind.adj.npy ] && pass || fail 'an integer has an adjoint'
    expect 0 run k.c inplace n=2 times=3 x=ones --vjp x=ones --device $device
    says 'x.adj: f64[2] = 0.0'
    expect 1 run k.c inplace n=2 times=3 x=ones --vjp x=ones --mode split --device $device
    says 'k.c:'
    expect 1 run k.c inplace n=3 times=100000 x=ones --vjp x=ones --budget 64k --device $device
    says 'inplace'
    says '65536'
done
# sums with the same bits for any number of threads; without the option so many iterations give others
cat >pull.c <<'END'
#include <math.h>
void pull(int n, int m, const int at[n], const double x[m], double y[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        y[at[i]] += sin(x[at[i]] * i);
    }
}
END
for threads in 1 3; do
    expect 0 run pull.c pull n=1000000 m=1 at=zeros x=ones y=zeros --vjp y=ones --deterministic --threads $threads --out fixed$threads
done
cmp fixed1/y.npy fixed3/y.npy && cmp fixed1/x.adj.npy fixed3/x.adj.npy && pass || fail "one thread and three give different bits"
expect 0 run k.c relax n=4 steps=ones x=x.npy loss=zeros --vjp loss=seed.npy --jvp x=x.npy --out d/e
for f in loss loss.adj loss.tan x.adj x.adj.tan loss.adj.tan; do holds d/e/$f.npy; done
expect 1 run k.c relax n=4 steps=ones x=x.npy loss=zeros --vjp loss=x.npy
says 'its shape differs'
expect 0 run k.c inplace n=100 times=10 x=ones --vjp x=ones --repeat 5
says 'forward '
says 'gradient '
says 'x: f64[100] = 1.4973'

# -- arrays in one file ----------------------------------------------------------------------------
expect 0 run k.c ramp n=4 x=zeros --out made.npz
expect 0 run k.c relax n=4 steps=ones loss=zeros --inputs made.npz
says 'loss: f32[1] = 2.64'
expect 0 run k.c cube n=3 k=2 x=ones y=zeros --vjp y=ones --out all/made.npz
expect 1 run k.c cube n=3 k=2 x=ones y=zeros --inputs nowhere.npz
says 'nowhere.npz: no such file'
expect 1 run k.c cube n=3 k=2 x=ones y=zeros --inputs k.c
says 'k.c: not a .npz file'
# as NumPy writes them, stored and compressed
cat >write.py <<'END'
import struct, zipfile
def npy(descr, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head += ' ' * (-(11 + len(head)) % 64) + '\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + data
x = [struct.pack('<d', v) for v in (1, 2, 3)]
arrays = {'n': npy('<i8', '()', struct.pack('<q', 3)), 'k': npy('<f8', '(1,)', x[1]), 'x': npy('<f8', '(3,)', b''.join(x)),
          'y': npy('<f8', '(3,)', bytes(24)), 'p.mass': npy('<f8', '(400,)', bytes(3200))}
for name, method in ('stored.npz', zipfile.ZIP_STORED), ('packed.npz', zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(name, 'w', method) as archive:
        for array in arrays:
            with archive.open(array + '.npy', 'w', force_zip64=True) as file:
                file.write(arrays[array])
assert zipfile.ZipFile('all/made.npz').testzip() is None
assert zipfile.ZipFile('all/made.npz').namelist() == ['k.adj.npy', 'x.adj.npy', 'y.npy', 'y.adj.npy']
for name in ('stored.npz', 'packed.npz'):
    whole = open(name, 'rb').read()
    for i in range(20):
        damaged = bytearray(whole[:len(whole) * i // 20] if i % 2 else whole)
        if i % 2 == 0:
            damaged[-1 - 37 * i] ^= 255
        open('%d.%s' % (i, name), 'wb').write(damaged)
END
python3 write.py >out 2>err && pass || fail "the archive is not as Python reads it"
for file in stored packed; do
    if "$rgc" run k.c cube --inputs $file.npz >out 2>err; then
        says 'y: f64[3] = 2 16 54'
        says "$file.npz: kernel \`cube\` has no parameter \`p.mass\`"
        expect 0 run k.c cube --inputs $file.npz k=1 --vjp y=ones
        says 'y: f64[3] = 1 8 27'
        expect 0 check k.c cube --inputs $file.npz --device interp
        expect 1 run k.c ramp --inputs $file.npz
        says 'dtype is f64, parameter `x` needs f32'
        expect 1 run k.c one_spring --inputs $file.npz s.mass=1
        says '`s.k` (f64)'
        for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
            "$rgc" run k.c cube --inputs $i.$file.npz >out 2>err
            [ $? -le 1 ] && pass || fail "$i.$file.npz ends rgc"
        done
    else
        [ $file = packed ] && grep -q 'made without zlib' err && pass || fail "$file.npz is not read"
    fi
done

# -- the other commands ----------------------------------------------------------------------------
for stage in source inline simplify vjp ad plan tape arrays llvm optimized assembly; do
    expect 0 ir k.c relax --form forward_vjp --stage $stage
done
# several directions: the primal is computed and recorded once
for form in vjp forward_vjp; do
    expect 0 ir k.c relax --form $form --stage tape
    grep -cE ' (sin|cos|sincos) |tape_push|tape_pop|exit_if' out >once
    adjoints=$(grep -c '[.]adj' out)
    expect 0 ir k.c relax --form $form --stage tape --directions 5
    grep -cE ' (sin|cos|sincos) |tape_push|tape_pop|exit_if' out >five
    [ "$(cat once)" -gt 2 ] && cmp -s once five && pass || fail "five directions compute the primal again"
    [ "$(grep -c '[.]adj' out)" -eq $((5 * adjoints)) ] && pass || fail "five directions have five adjoints"
done
expect 2 ir k.c relax --form vjp --directions 65
says 'from 1 to 64'
# a local array that all directions share goes from insert to insert as it is
cat > local.c <<'END'
void local(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a[4] = {0.0, 0.0, 0.0, 0.0};
        for (int t = 0; t < n; t++)
            a[t % 4] += x[t] * a[(t + 1) % 4] + 1.0;
        y[i] = a[i % 4];
    }
}
END
expect 0 ir local.c local --form jvp
grep -c ' copy ' out >once
expect 0 ir local.c local --form jvp --directions 3
[ "$(grep -c ' copy ' out)" -eq "$(cat once)" ] && pass || fail "directions copy an array that they share"
# what is constant has no planes
expect 0 ir local.c local --form forward_vjp --constant x --constant y
grep -q '[.]adj' out && fail "a constant has an adjoint" || pass
expect 1 explain local.c local --constant z
says "no parameter"
expect 0 ir k.c relax --stage source
cp out relax.rg
expect 0 run relax.rg relax n=4 steps=ones x=x.npy loss=zeros:1
says 'loss: f32[1] = 2.64'
for k in relax cube bodies norm matrix inplace; do
    expect 0 check k.c $k
    says 'worst relative error'
done
expect 0 check k.c cube n=100 k=0.5 --seed 7
expect 0 check k.c cube n=20 --device interp
says 'vjp against jvp, interpreter'
expect 0 check k.c cube n=20 --device cpu
says 'gradient, cpu against interpreter'
expect 0 check k.c relax n=50 --device simt
says 'gradient, simt against interpreter'
says 'symmetry of the Hessian, simt'
# static functions
cat >static.c <<'END'
static double twice(double x) { return 2 * x; }
static double far(double *x) { goto out; out: return x[0]; }
int main(void) { return twice(1) > 3; }
END
expect 0 list static.c
says 'static.c:1: twice'
says 'far: error[E0410]'
expect 0 list static.c twice
expect 1 check static.c far
says 'error[E0410]'
expect 1 check static.c farther
says 'there is no kernel `farther` (there is twice, far)'
# numbers of rows, of a table that no extent fixes
cat >rows.c <<'END'
void look_up(int n, int width, const int *row, const double *table, double *y)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < width; k++)
            for (int l = 0; l < width; l++)
                y[i] += table[(row[i] * width + k) * width + l] * k;
}
END
expect 0 check rows.c look_up --device interp
# a small input beside a large constant: steps of differences are rounded
cat >date.c <<'END'
#include <math.h>
double wobble(double date) { return 1e-3 * sin(0.01 * (date - 2451545.0)) + 2e-6 * fmod(date - 2451545.0, 1.0); }
END
for seed in 1 2 3 4 5 6; do
    expect 0 check date.c wobble --device interp --seed $seed
done
# a NaN that a comparison drops: where floats have both signs
cat >dropped.c <<'END'
#include <math.h>
double distance(int n, const double x[n], const double y[n])
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * log(x[i] / y[i]);
    return sum >= -10 ? sqrt(sum + 10) : 0;
}
END
expect 0 check dropped.c distance --starts 6 --device interp
says 'or a NaN on the way'
expect 0 run k.c relax n=4 steps=ones x=ones loss=zeros --vjp loss=ones --device simt --repeat 2
says 'loss: f32[1] = 3.765'
expect 0 explain k.c relax --device simt
says 'gradient of `relax`'
for d in cpu simt; do
    expect 1 run k.c shift n=4 by=1 x=ones y=zeros --checked --device $d
    says 'k.c:'
    says 'index 4 leaves axis 0 of array `x`, extent 4'
    expect 0 run k.c shift n=4 by=0 x=ones y=zeros --checked --device $d
    says 'y: f64[4] = 2 2 2 2'
done
# on the CPU that is the default; all devices say the same, whichever thread of a group it is
cat >s.c <<'END2'
void serial(int n, int m, const double x[n][m], double y[n])
{
    for (int i = 0; i <= n; i++)
        y[i] = x[i][1];
}
void row(int n, int m, int at, const double x[n][m], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < 1; i++)
        y[i] = x[i][at];
}
void rows(int n, int m, const int at[n], const double x[n][m], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = *(x[i] + at[i]);
}
double square(int n, const double x[4])
{
    return x[n * n];
}
END2
expect 1 run k.c shift n=4 by=1 x=ones y=zeros
says 'k.c:41: index 4 leaves axis 0 of array `x`, extent 4'
expect 1 run k.c shift n=4 by=-1 x=ones y=zeros
says 'index -1 leaves axis 0'
# a subscript's own arithmetic is exact: in 32 bits this one is 0
for d in cpu simt; do
    expect 1 run s.c square n=65536 x=ones --checked --device $d
    says 'index 4294967296 leaves axis 0 of array `x`, extent 4'
done
expect 2 run k.c shift n=4 by=0 x=ones y=zeros --checked --unchecked
expect 0 run k.c shift n=4 by=0 x=ones y=zeros --unchecked
expect 0 run k.c shift n=4 by=0 x=ones y=zeros --repeat 2
says 'subscripts not checked'
expect 1 run k.c shift n=4 by=1 x=ones y=zeros --repeat 2 --checked
says 'index 4 leaves'
for d in cpu simt interp; do
    for lanes in 1 8 16; do
        export RG_LANES=$lanes
        for seed in '' '--vjp y=ones'; do
            expect 1 run s.c rows n=17 m=2 at=0,1,2,3,4,5,6,1,0,1,0,1,0,1,1000000,0,0 x=ones y=zeros --checked --device $d $seed
            says 'index 1000000 leaves axis 1 of array `x`, extent 2'
            expect 1 run s.c row n=2 m=3 at=3 x=ones y=zeros --checked --device $d $seed
            says 'index 3 leaves axis 1 of array `x`, extent 3'
            expect 1 run s.c serial n=4 m=2 x=ones y=zeros --checked --device $d $seed
            says 'leaves axis 0 of array `x`, extent 4'
            expect 0 run s.c rows n=3 m=2 at=2,3,1 x=ones y=zeros --checked --device $d $seed
        done
    done
    unset RG_LANES
done
# what check has to find, and to say where it cannot
cat >c.c <<'END2'
#include <math.h>
void scatter(int n, const int idx[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[idx[i]] += x[i];
}
void same_value(int n, double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i / 2] = 2;
}
void seen_between(int n, const double x[n], double sum[1], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        sum[0] += x[i];
        y[i] = sum[0];
    }
}
void gathered(int n, int m, const int idx[n], const int steps[n], const double x[m], double y[m], double loss[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[idx[i]];
        for (int t = 0; t < steps[i]; t++)
            v = sin(v);
        #pragma omp atomic
        y[idx[i]] += v;
        #pragma omp atomic
        loss[0] += v;
    }
}
void roots(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = sqrt(x[i] - 0.75);
}
void captured(int n, double x[n], double a[n], double out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double old;
        #pragma omp atomic capture
        { old = a[i]; a[i] += x[i]; }
        out[i] = (double)(int)(4 * old);
    }
}
void scaled(int n, double a, double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = x[i] * x[i];
        x[i] *= a;
    }
}
#include <stdlib.h>
void in_memory(int n, const double x[n], double y[n])
{
    double *kept = (double *)malloc(n * sizeof(double));
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        kept[i] = x[i] * x[i];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = sin(kept[i]);
    free(kept);
}
void biased(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] < 0 ? nextafter(x[i], 1.0) : x[i];
}
void triples(int n, const double *x, double *y)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[3 * i] * x[3 * i + 1] + x[3 * i + 2];
}
void too_far(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i + 1];
}
void forever(const int next[8], double x[1])
{
    for (int at = 0; at >= 0; at = next[at] % 8)
        x[0] += 1;
}
END2
expect 1 check c.c scatter --device interp
says 'races of threads                              FAILED'
says 'c.c:6:'
says 'race for `y['
expect 0 check c.c scatter n=4 idx=2,0,3,1 --device interp
says 'races of threads                              ok'
expect 1 check c.c same_value --device interp
says 'race for `y[0]`: iteration i = 0 writes it (line 12), iteration i = 1 writes it (line 12)'
expect 1 check c.c seen_between --device interp
says 'iteration i = 1 updates it atomically (line 19)'
expect 1 run c.c scatter n=2 idx=1,1 x=ones y=zeros --checked --device interp
says 'race for `y[1]`: iteration i = 0 writes it (line 6), iteration i = 1 reads it (line 6)'
expect 0 run c.c scatter n=2 idx=1,0 x=ones y=zeros --checked --device interp
expect 0 check c.c gathered m=5
says 'jvp against central differences               ok'
says 'arrays after the jvp, cpu'
says 'split gradient against combined, cpu'
expect 3 check c.c roots n=20 --starts 1
says 'NOT SHOWN'
says '14 of 80 not finite'
says 'nothing failed, but not all is shown'
expect 0 check c.c roots n=2 x=1,2 --device interp
expect 0 check c.c scaled --device interp
says 'split gradient                                left out   refused: c.c:'
says 'error[E0530]'
expect 0 check c.c in_memory --device interp
says 'the gradient needs `kept` as it was here'
expect 1 check c.c biased n=4 --device interp
says 'gradient against central differences          FAILED'
says 'jvp against central differences               FAILED'
expect 0 check c.c biased n=4 --starts 1 --device interp
expect 3 check k.c ramp --device interp
says 'nothing to differentiate: no active input reaches an active output'
expect 0 check c.c triples --device interp
expect 1 check c.c triples x=ones:8 --device interp
says 'leaves axis 0 of array `x`, extent 8'
expect 1 check c.c too_far --device interp
says 'leaves axis 0 of array `x`, extent 8'
expect 1 check c.c forever
says 'does not end within 268435456 operations of the interpreter'
says 'NAME=VALUE gives an argument'
expect 2 check c.c roots --starts 0
expect 1 check k.c cube n=20 --device abacus
says 'there is no device "abacus" (there is cpu'
expect 1 explain k.c cube --device abacus
says 'there is no device "abacus" (there is cpu'
expect 1 run k.c ramp n=4 x=zeros --device abacus
says 'there is no device "abacus" (there is cpu'
expect 0 run k.c cube n=3 k=2 x=1,2,-3 y=zeros --vjp y=1,0,0.5
says 'y: f64[3] = 2 16 -54'
says 'x.adj: f64[3] = 6 0 27'
expect 1 run k.c cube n=3 k=2 x=1,2 y=zeros
says 'parameter `x` has 3 elements, not 2'
expect 1 run k.c cube n=3 k=2 x=1,two,3 y=zeros
says 'parameter `x` holds f64: `two` is not a number'
expect 1 run k.c cube n=3 k=2 x=1,2,3 y=zeros --vjp y=1,2
says 'parameter `y` has 3 elements, not 2'
expect 0 run k.c relax n=1 steps=1 x=0.5 loss=0
says 'loss: f32[1] = 0.57'
expect 0 run k.c relax n=2 steps=1,0, x=0.5,1, loss=0,
says 'loss: f32[1] = 1.57'
expect 1 run k.c relax n=3 steps=ones x=0.5 loss=zeros
says 'parameter `x` has 3 elements, not 1'
expect 1 run k.c relax n=2 steps=99999999999,1 x=ones loss=zeros
says 'parameter `steps` holds i32: 99999999999 does not fit'
expect 1 run k.c relax n=2 steps=1,2147483648 x=ones loss=zeros
says '2147483648 does not fit'
expect 0 run k.c relax n=2 steps=-2147483648,1 x=ones loss=zeros
expect 1 run k.c relax n=2 steps=1,1 x=1e39,1 loss=zeros
says 'parameter `x` holds f32: 1e39 does not fit'
expect 1 run k.c relax n=4 steps=ones x=ones loss=zeros --vjp x=ones
says 'the kernel does not write `x`: name one of `loss`'
expect 1 run k.c cube n=4 k=2 x=ones y=zeros --vjp k=1
says 'the kernel does not write `k`: name one of `y`'
expect 0 run k.c cube n=4 k=2 x=ones y=zeros --vjp y=ones --vjp x=zeros
says 'x.adj: f64[4] = 6 6 6 6'
expect 0 run k.c matrix n=2 m=2 a=1,2,3,4 y=0,0
says 'y: f32[2] = 5 11'
expect 0 run k.c relax n=2 steps=1,0 x=0.5,1 loss=zeros
says 'loss: f32[1] = 1.57'
expect 0 run k.c ramp n=4 x=zeros --checked
says 'x: f32[4] = 0.25 0.5 0.75 1'
expect 0 explain k.c relax --grad
says 'records 4 bytes per iteration (v)'
says 'adjoint of x: plain add: no two threads reach one element'
# the end of what an inner loop recorded is a place, of eight bytes
cat >places.c <<'END2'
void places(int n, const int steps[n], double x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < steps[i]; t++) {
            for (int k = 0; k < t; k++) {
                if (v > 3.0) break;
                v = v * v - 0.5;
            }
            if (v > 2.0) continue;
            while (v < 1.0) v = v * v + 0.25;
        }
        x[i] = v;
    }
}
END2
expect 0 explain places.c places
says 'on the tape: where a loop or branch inside ends on it (8 bytes)'
grep -q 'none, 0 bytes\|tape_begin' out && fail "explain shows what the tape is made of" || pass
# what is recorded is written as the source has it, in lanes and alone
cat >named.c <<'END2'
void named(int count, double a[count][4][4])
{
    #pragma omp parallel for
    for (int q = 0; q < count; q++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                a[q][i][j] *= a[q][j][i];
}
END2
expect 0 explain named.c named
says 'on the tape: a[q][j][i] (f64, 8 bytes)'
export RG_LANES=8
expect 0 explain named.c named
says 'on the tape: a[q][j][i] (f64, 8 bytes)'
unset RG_LANES
export RG_PLAN=block=4
expect 0 explain k.c relax --grad
says 'records 4 bytes per 4 iterations (v)'
RG_PLAN=block=4x
expect 1 explain k.c relax --grad
says 'RG_PLAN'
unset RG_PLAN

# lines of included files, and advice: where it holds, and nowhere else
mkdir -p inc
cat >inc/decay.h <<'END2'
static double unused(double x) { return x; }

static double
decay(double x, int steps)
{
    for (int t = 0; t < steps; t++)
        x = x * x * 0.5;
    return x;
}
END2
cat >advice.c <<'END2'
#include "inc/decay.h"
#include <math.h>
void wrapper(int n, int steps, const double x[n], double y[n])
{
    for (int i = 0; i < n; i++)
        y[i] = decay(x[i], steps);
}
void planes(int n, int m, const double a[n][m], double b[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i][j] = sin(a[i][j]) * b[i][j];
}
void rows(int n, int m, const double a[n][m], double b[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i][j] = sin(a[i][j]) * b[i][j];
}
double dot(int n, const double x[n], const double y[n])
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}
void steps(int n, int times, double a[n], double b[n])
{
    for (int t = 0; t < times; t++) {
        for (int i = 1; i < n - 1; i++)
            b[i] = a[i - 1] * a[i + 1];
        for (int i = 1; i < n - 1; i++)
            a[i] = b[i] * b[i];
    }
}
void flat(int n, int m, int k, const double *a, double *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                b[i * m * k + j * k + l] = sin(a[i]);
}
void row_pointers(int n, int m, const double *a, double *b)
{
    for (int i = 0; i < n; i++) {
        double *row = b + i * m;
        for (int j = 0; j < m; j++)
            row[j] = sin(a[i]);
    }
}
void too_wide(int n, int m, const double *a, double *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m + 1; j++)
            b[i * m + j] = sin(a[i]) * j;
}
void prefix(int n, double x[n])
{
    for (int i = 1; i < n; i++)
        x[i] += x[i - 1];
}
void turned(int n, double x[n])
{
    for (int i = 0; i < n; i++)
        x[i] = 2 * x[n - 1 - i];
}
void scattered(int n, const int at[n], const double x[n], double y[n])
{
    for (int i = 0; i < n; i++)
        y[at[i]] += x[i];
}
void decays(int n, double x[n])
{
    double v = 1;
    for (int i = 0; i < n; i++) {
        v = v * 0.5;
        x[i] = v;
    }
}
void antidiagonals(int n, double x[2 * n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i + j] *= 0.5;
}
void shared_row(int n, int m, double x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[i] = sin(x[i]);
}
void floats(int n, float x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = x[i] * 0.3;
        x[i] = x[i] * 0.1 + 2;
    }
}
END2
# advises KERNEL TEXT: it is the only advice
advises() {
    expect 0 explain advice.c $1
    says "$2"
    [ "$(grep -c 'advice:' out)" -eq 1 ] && pass || fail "$1 has other advice"
}
# runs_in_threads KERNEL: a loop of its own becomes a parallel one, and there is nothing to advise
runs_in_threads() {
    expect 0 explain advice.c $1
    says 'its iterations are independent: they are threads'
    grep -q 'advice:' out && fail "$1 gets advice" || pass
}
runs_in_threads wrapper
says './inc/decay.h:'
says '    6 |     for (int t = 0; t < steps; t++)'
says 'records 8 bytes per iteration (x), which the reverse sweep reads'
grep -q unused out && fail "a function that is not called is shown" || pass
runs_in_threads planes
advises flat 'parallel for collapse(3)`'
runs_in_threads row_pointers
says '      |     ^ its'
runs_in_threads too_wide
says '      |         ^ its'
advises dot '`#pragma omp parallel for reduction(+ : s)`'
runs_in_threads antidiagonals
advises floats '0.1f leaves it float'
runs_in_threads steps
[ "$(grep -c 'they are threads' out)" -eq 2 ] && pass || fail "two loops of a step are independent"
says 'refused: advice.c'
for k in rows prefix turned scattered decays shared_row; do
    expect 0 explain advice.c $k
    grep -q advice: out && fail "$k gets advice" || pass
done
expect 0 explain advice.c rows --device cuda
says 'in double: GPUs'

# other machines, threads side by side
export RG_LANES=8
expect 0 grad k.c relax -o arm.o --target aarch64-linux-gnu
holds arm.o
expect 0 grad k.c relax -o avx2.o --target x86_64-linux-gnu --cpu x86-64-v3
holds avx2.o
unset RG_LANES

# machines that LLVM does not know: it would go on with another, or end the process
expect 1 build k.c relax --cpu nocpu
says "'nocpu' is not a recognized processor"
expect 1 build k.c relax --features +nonsense
says "'+nonsense' is not a recognized feature"
expect 1 build k.c relax --target foo-bar
says 'LLVM, for foo-bar: No available targets'
expect 1 build k.c relax --target x86_64-linux-gnu --cpu i386
says '64-bit'
[ ! -e relax.o ] && pass || fail "there is an object for no machine"
expect 2 build k.c relax -o -
says '--header'
expect 0 build k.c relax -o - --header relax_out.h
holds out
holds relax_out.h
expect 2 build k.c relax --device simt
says 'nothing to build for --device simt'
expect 2 build k.c relax --device cpu --target sm_90
says '--target sm_90 is for --device cuda'
expect 2 ir k.c relax --device cuda --target gfx942
says '--target gfx942 is for --device amd'
expect 2 ir k.c relax --device amd --target x86-64
says '--target of --device amd is an AMD GPU'
expect 1 ir k.c relax --device abacus
says 'there is no device "abacus" (there is cpu'
expect 0 ir k.c relax --form forward_vjp --stage tape --device simt
cp out simt_form
expect 0 ir k.c relax --form forward_vjp --stage tape --device cuda
cmp -s out simt_form && pass || fail "cuda and simt have one form"
for device in cpu interp simt cuda amd; do
    expect 0 explain k.c relax --device $device
done

# of AMD's: a code object and what the comments of PTX say; a build without it says so
if "$rgc" build k.c relax --target gfx1100 >out 2>err; then
    holds relax.hsaco
    expect 0 grad k.c relax --target gfx942 -o gpu.hsaco
    grep -q '^// entry rgk_relax_forward_vjp: arguments by value.*; tape' gpu.txt && grep -q 'blocks of at most 256 threads' gpu.txt &&
        grep -q 'rgk_relax_vjp.kd' gpu.hsaco && pass || fail "gpu.hsaco or gpu.txt lacks what it should say"
    expect 1 build k.c relax --target gfx803
    says 'there is no GPU `gfx803`'
    # more of a thread's own memory than there is: an error, where LLVM would end the process
    cat >own.c <<'END_OF_FILE'
void own(int n, const int k[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a[40000];
        for (int j = 0; j < 40000; j++)
            a[j] = x[(i + j) % n];
        y[i] = a[k[i]];
    }
}
END_OF_FILE
    expect 1 build own.c own --target gfx942
    says 'E0900'
    says 'stack frame size (320'
else
    grep -q "AMD's GPUs\|the runtime on the device" err && pass || fail "no code object, and no reason: $(cat err)"
fi
# a GPU's: PTX with a comment for each entry; a build without it says so
expect 2 ir k.c relax --target
if "$rgc" build k.c relax --target sm_90 >out 2>err; then
    holds relax.ptx
    expect 0 grad k.c relax --target sm_80 --fast-math -o gpu.ptx
    grep -q '^// entry rgk_relax_forward_vjp: arguments by value.*; tape' gpu.ptx && grep -q '^.visible .entry rgk_relax_vjp(' gpu.ptx &&
        grep -q '^.target sm_80' gpu.ptx && grep -q 'sin.approx' gpu.ptx && pass || fail "gpu.ptx lacks what it should say"
    # what may be run again has a barrier of the grid: a loader has to know
    cat >pages.c <<'END'
void pages(int n, const int steps[n], const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < steps[i]; t++) v = v * (1.0f - 0.1f * v);
        y[i] = v;
    }
}
END
    expect 0 grad pages.c pages --target sm_90 -o pages.ptx
    grep -q '^// entry rgk_pages_vjp: arguments by value; waits; tape' pages.ptx && pass || fail "pages.ptx does not say that it waits"
    expect 0 build k.c relax --device cuda -o -
    says '.target sm_70'
    expect 1 build k.c relax --target sm_50
    says 'there is no GPU `sm_50`'
    expect 0 ir k.c relax --form vjp --target sm_90 --stage assembly
    says '.visible .entry relax_vjp('
    says 'ld.global.nc'
    # the text of Metal has no stages of LLVM, no atomics of 64 bits, and is not built yet
    expect 0 ir k.c ramp --form vjp --target metal --stage assembly
    says 'kernel void e0('
    expect 0 ir k.c relax --form vjp --target metal --stage assembly
    expect 1 ir pull.c pull --form vjp --target metal --stage assembly
    says 'Metal: an atomic update of 64 bits, which this device lacks'
    expect 2 ir k.c ramp --target metal --stage optimized
    says "stage optimized is LLVM's"
    expect 2 build k.c ramp --target metal
    says 'there is nothing to build for --device metal'
    # lanes that take turns
    expect 0 ir pull.c pull --form vjp --device cuda --deterministic --target sm_90 --stage assembly
    says 'match.any.sync'
else
    grep -q 'GPUs' err && pass || fail "nothing says why there is no PTX"
fi

expect 0 build k.c relax -o relax.o
expect 0 grad k.c relax -o relax_grad.o --header relax_gradient.h
cat >main.c <<'END'
#include "relax.h"
#include <stdio.h>
int main(void)
{
    int32_t steps[2] = {1, 1};
    float x[2] = {0.25f, 0.5f}, loss[1] = {0};
    int fault = relax_forward(2, steps, x, loss);
    printf("%d %.4f\n", fault, loss[0]);
    return 0;
}
END
cat >grad.c <<'END'
#include "relax_gradient.h"
#include <stdio.h>
int main(void)
{
    int32_t steps[2] = {1, 1};
    float x[2] = {0.25f, 0.5f}, g[2] = {0}, loss[1] = {0}, seed[1] = {1};
    int fault = relax_forward_vjp(2, steps, x, g, loss, seed);
    printf("%d %.4f %.4f %.4f\n", fault, loss[0], g[0], g[1]);
    loss[0] = 0;
    fault = relax_forward(2, steps, x, loss) | relax_vjp(2, steps, x, 0, loss, seed);
    printf("%d %.4f\n", fault, loss[0]);
    float t[2] = {1, 2}, u[1] = {0};
    fault = relax_jvp(2, steps, x, t, loss, u);
    printf("%d %.4f\nlacks %s\n", fault, u[0], relax_lacks() ? relax_lacks() : "nothing");
    return 0;
}
END
# arrays inside an array of structs: the header knows how far apart they are
cat >inside.c <<'END'
struct body { double mass; float at[2]; int kind; };
void weigh(int n, const struct body b[n], double w[n]) { for (int i = 0; i < n; i++) w[i] = b[i].mass * b[i].at[1] + b[i].kind; }
END
cat >inside_main.c <<'END'
#include "weigh.h"
#include <stdio.h>
struct body { double mass; float at[2]; int kind; };
int main(void)
{
    struct body b[2] = {{2, {9, 0.5f}, 1}, {3, {8, 0.25f}, 2}};
    double w[2] = {0};
    int fault = weigh_forward(2, &b[0].mass, b[0].at, &b[0].kind, w);
    printf("%d %g %g\n", fault, w[0], w[1]);
    return 0;
}
END
expect 0 build inside.c weigh
cc $RG_TEST_CFLAGS -Wall -Wextra -Werror inside_main.c weigh.o "$rgrt" -pthread -lm -o inside >out 2>err && ./inside >out 2>&1
says '0 2 2.75'
cc $RG_TEST_CFLAGS -Wall -Wextra -Werror main.c relax.o "$rgrt" -pthread -lm -o main >out 2>err && ./main >out 2>&1
says '0 0.9268'
expect 0 build k.c relax -S
cc $RG_TEST_CFLAGS main.c relax.s "$rgrt" -pthread -lm -o main >out 2>err && ./main >out 2>&1
says '0 0.9268'
cc $RG_TEST_CFLAGS -Wall -Wextra -Werror grad.c relax_grad.o "$rgrt" -pthread -lm -o grad >out 2>err && ./grad >out 2>&1
says '0 0.9268 0.9689 0.8776'
says '0 0.9268'
says '0 2.7241'
says 'lacks nothing'

# an object for another processor says so; for another runtime, or with a header of another one, it does not link
runs() { cc $RG_TEST_CFLAGS grad.c "$1" "$rgrt" -pthread -lm -o other >out 2>err && ./other >out 2>&1; }
if [ "$(uname -m)" = x86_64 ]; then
    LC_ALL=C sed 's/popcnt/sve=64/' relax_grad.o >other.o
    runs other.o
    says '6 0.0000 0.0000 0.0000'
    says 'lacks sve=64'
fi
LC_ALL=C sed 's/rt_abi_1/rt_abi_9/' relax_grad.o >other.o
runs other.o && fail "an object for another runtime links" || pass
grep -q rt_abi_9 err && pass || fail "the linker does not name another runtime: $(cat err)"
sed 's/float x\[n\]/double x[n]/' k.c >other.c
expect 0 grad other.c relax -o other.o
runs other.o && fail "a header of another kernel links" || pass
grep -q 'rgk_relax_[0-9a-f]*' err && pass || fail "the linker does not name the object: $(cat err)"

# a product over threads whose values pass through an array without tangent
cat >through.c <<'END'
#include <math.h>
void through(int n, const double x[n], double b[2], double z[n])
{
    double s = 0.3;
    #pragma omp parallel for reduction(* : s)
    for (int i = 0; i < n; i++) {
        z[i] = x[i] * 2;
        s *= 0.9 + 0.2 * sin(z[i]);
    }
    b[0] = s;
}
END
expect 1 ir through.c through --form jvp --constant z
says 'error[E0510]'
expect 1 ir through.c through --form vjp --constant z
says 'error[E0510]'

# a load behind an assert does not go before it
cat >guarded.c <<'END'
#include <assert.h>
void guarded(int n, int k, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0;
        int t = 0;
        do {
            assert(k >= 0);
            s += x[k] * t;
            t++;
        } while (t < n);
        y[i] = s;
    }
}
END
expect 1 run guarded.c guarded n=2 k=-1 x=zeros y=zeros --device interp
says 'assertion failed: k >= 0'

# --- iterations behind the end of an array of pointers, which are not generated ---
cat >behind.c <<'END'
void behind(int n, int k, const double a[n], const double b[n], double x[n])
{
    const double *w[2] = {a, b};
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int t = 0; t < k; t++)
            x[i] += t < 2 ? w[t][i] : 1;
}
END
expect 0 run behind.c behind n=2 k=2 a=1,2 b=3,4 x=zeros
says 'x: f64[2] = 4 6'
expect 1 run behind.c behind n=2 k=3 a=1,2 b=3,4 x=zeros
says "behind.c:7: assertion failed: the loop's counter leaves the elements of \`w\`"

# --- an assertion behind what runs where it is reversed, a task and a loop, guards what stands behind it ---
cat >guards.c <<'END'
#include <assert.h>
#include <math.h>
void guards(int n, const double x[n], const double w[n], double y[n], const int at[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += sqrt(x[i] + w[j]);
        assert(at[i] < n);
        assert(sum >= 0);
        y[i] = sum + w[at[i]];
    }
}
void guarded_total(int n, const double x[n], const double w[n], double y[1], const int at[1])
{
    double sum = 0;
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += sqrt(x[i]);
    assert(sum < n);
    y[0] = sum + w[at[0]];
}
END
expect 1 run guards.c guards n=2 x=1,2 w=1,2 y=zeros at=1,1000000000 --vjp y=ones --unchecked
says 'guards.c:10: assertion failed: at[i] < n'
expect 1 run guards.c guarded_total n=2 x=1,2 w=1,2 y=zeros at=1000000000 --vjp y=ones --unchecked
says 'guards.c:21: assertion failed: sum < n'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
