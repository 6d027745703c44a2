/* Which adds to adjoints are plain: `adjoints:` says of each array that is read whether threads have
 * elements of their own always (plain), never surely (atomic), or if the launch's sizes say so (tested).
 * exclusive_test.sh looks at the code, run_cases at the values; the interpreter sees threads that meet.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

/* -- own elements ------------------------------------------------------------------------------ */

// kernel: own_rows
// args: n=3 m=2 x[3][2]=0.5,1,1.5,2,0.7,0.9 y[3]=0
// adjoints: x plain
void
own_rows(int n, int m, const double x[n][m], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int k = 0; k < m; k++)
            s += x[i][k] * x[i][k];
        y[i] = s;
    }
}

// kernel: own_columns
// args: n=3 m=2 x[2][3]=0.5,1,1.5,2,0.7,0.9 y[3]=0
// adjoints: x plain
void
own_columns(int n, int m, const double x[m][n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int k = m - 1; k >= 0; k--)
            s += x[k][i] * x[k][i];
        y[i] = s;
    }
}

// kernel: triples
// args: n=2 x[6]=0.5,1,1.5,2,0.7,0.9 y[2]=0
// adjoints: x plain
void
triples(int n, const double *x, double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i * 3] * x[i * 3 + 1] + x[3 * i + 2] * x[3 * i];
}

// kernel: triples_wide
// args: n=2 x[6]=0.5,1,1.5,2,0.7,0.9 y[2]=0
// adjoints: x plain
void
triples_wide(int n, const double *x, double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[(int64_t)i * 3] * x[(int64_t)i * 3 + 1];
}

// kernel: records_of_three
// args: n=2 x[2][3]=0.5,1,1.5,2,0.7,0.9 y[2]=0
// adjoints: x plain
void
records_of_three(int n, const double x[n][3], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i][0] * x[i][1] + sin(x[i][2]);
}

// kernel: flat_rows
// args: n=3 d=2 x[6]=0.5,1,1.5,2,0.7,0.9 y[3]=0
// adjoints: x plain
void
flat_rows(int n, int d, const double *x, double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int k = 0; k < d; k++)
            s += x[i * d + k] * x[i * d + k];
        y[i] = s;
    }
}

// kernel: moving_pointer
// args: n=3 d=2 x[6]=0.5,1,1.5,2,0.7,0.9 y[3]=0
// adjoints: x plain
void
moving_pointer(int n, int d, const double *x, double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        const double *p = x + i * d;
        for (int k = 0; k < d; k++) {
            s += *p * *p;
            p++;
        }
        y[i] = s;
    }
}

// kernel: two_indices
// args: n=2 m=3 x[2][3]=0.5,1,1.5,2,0.7,0.9 y[2][3]=0
// adjoints: x plain
void
two_indices(int n, int m, const double x[n][m], double y[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i][j] = x[i][j] * x[i][j];
}

// kernel: two_indices_flat
// args: n=2 m=3 x[6]=0.5,1,1.5,2,0.7,0.9 y[6]=0
// adjoints: x plain
void
two_indices_flat(int n, int m, const double *x, double *y)
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i * m + j] = x[i * m + j] * x[i * m + j];
}

// kernel: three_indices_flat
// args: n=2 m=3 l=2 x[12]=0.5,1,1.5,2,0.7,0.9 y[12]=0
// adjoints: x plain
void
three_indices_flat(int n, int m, int l, const double *x, double *y)
{
    #pragma omp parallel for collapse(3)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < l; k++)
                y[(i * m + j) * l + k] = sin(x[(i * m + j) * l + k]);
}

// kernel: skewed
// args: n=2 m=3 x[4][3]=0.5,1,1.5,2,0.7,0.9 y[2][3]=0
// adjoints: x plain
/* j is known from the second subscript, and then i from the first */
void
skewed(int n, int m, const double x[n + m - 1][m], double y[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i][j] = x[i + j][j] * x[i + j][j];
}

// kernel: backwards
// args: n=3 x[3]=0.5,1,1.5 y[3]=0
// adjoints: x plain
void
backwards(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[n - 1 - i] * x[n - 1 - i];
}

// kernel: shifted_alike
// args: n=3 x[5]=0.5,1,1.5,2,3 y[3]=0
// adjoints: x plain
void
shifted_alike(int n, const double x[n + 2], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i + 2] * x[i + 2];
}

// kernel: other_times
// args: n=2 steps=3 x[2][3]=0.5,1,1.5,2,0.7,0.9 y[2]=0
// adjoints: x plain
/* offsets differ in a subscript that has no parallel index */
void
other_times(int n, int steps, const double x[n][steps], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int t = 0; t + 1 < steps; t++)
            s += x[i][t] * x[i][t + 1];
        y[i] = s;
    }
}

// kernel: history
// args: n=3 steps=2 h[9]=0.5,1,1.5,0,0,0,0,0,0
// split: any
// adjoints: h plain
/* steps of time lie further apart than threads */
void
history(int n, int steps, double h[(steps + 1) * n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            h[(t + 1) * n + i] = sin(h[t * n + i]);
    }
}

// kernel: two_halves
// args: n=2 x[4]=0.5,1,1.5,2 y[2]=0
// adjoints: x plain
void
two_halves(int n, const double x[2 * n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[n + i];
}

// kernel: halves_that_meet
// args: n=3 x[6]=0.5,1,1.5,2,0.7,0.9 y[3]=0
// adjoints: x atomic
void
halves_that_meet(int n, const double x[2 * n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[n - 1 + i];
}

// kernel: lower_triangle
// args: n=3 x[3][3]=0.5,1,1.5,2,0.7,0.9,1.1,1.2,1.3 y[3]=0
// adjoints: x plain
void
lower_triangle(int n, const double x[n][n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int k = 0; k <= i; k++)
            s += x[i][k] * x[i][k];
        y[i] = s;
    }
}

// kernel: left_early
// args: n=3 m=2 x[3][2]=0.5,1,1.5,2,0.7,0.9 y[3]=0
// adjoints: x plain
void
left_early(int n, int m, const double x[n][m], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int k = 0; k < m; k++) {
            if (s > 2.0)
                break;
            s += x[i][k] * x[i][k];
        }
        y[i] = s;
    }
}

// kernel: picked_in_turn
// args: n=3 steps=3 a[3]=0.5,1,1.5 b[3]=0
// split: any
// adjoints: p plain
void
picked_in_turn(int n, int steps, double a[n], double b[n])
{
    double *p = a, *q = b;
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            q[i] = sin(p[i]) * p[i];
        double *other = p;
        p = q;
        q = other;
    }
}

// kernel: masked_column
// args: n=3 x[3][4]=0.5,1,1.5,2,0.7,0.9 c[3]=9,6,3 y[3]=0
// adjoints: x plain
void
masked_column(int n, const double x[n][4], const int c[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i][c[i] & 3] * x[i][c[i] & 3];
}

// kernel: one_of_many_rows
// args: n=3 at=1 x[2][3]=0.5,1,1.5,2,0.7,0.9 y[3]=0
// adjoints: x plain
/* the row is the same for all threads, wherever it is */
void
one_of_many_rows(int n, int at, const double x[2][n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[at][i] * x[at][i];
}

// kernel: even_and_odd
// args: n=2 x[4]=0.5,1,1.5,2 y[2]=0
// adjoints: x plain
void
even_and_odd(int n, const double x[2 * n], double y[n])
{
    #pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        y[i] = x[2 * i] * x[2 * i + 1];
}

// kernel: packed_triangles
// args: n=3 q=2 m=6 a[2][6]=0.5,1,1.5,2,0.7,0.9,1.1,1.2,1.3 y[2]=0
// adjoints: a plain
/* a subscript of a declared axis stays in its row, whatever it is */
void
packed_triangles(int n, int q, int m, const double a[q][m], double y[q])
{
    #pragma omp parallel for
    for (int t = 0; t < q; t++) {
        double s = 0.0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= i; k++)
                s += a[t][i * (i + 1) / 2 + k] * a[t][i * (i + 1) / 2 + k];
        y[t] = s;
    }
}

// kernel: packed_in_place
// args: n=3 q=2 m=6 x[2]=0.5,1.5 a[2][6]=0 y[2]=0
// adjoints: a plain
/* a thread finds its own row as it left it: the split launch is not refused */
void
packed_in_place(int n, int q, int m, const double x[q], double a[q][m], double y[q])
{
    #pragma omp parallel for
    for (int t = 0; t < q; t++) {
        double s = 0.0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= i; k++)
                a[t][i * (i + 1) / 2 + k] = sin(x[t] * (i + k));
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= i; k++)
                s += a[t][i * (i + 1) / 2 + k] * a[t][i * (i + 1) / 2 + k];
        y[t] = s;
    }
}

// kernel: packed_temporary
// args: n=3 q=2 m=6 x[2]=0.5,1.5 y[2]=0
// split: refused
// adjoints: a plain
void
packed_temporary(int n, int q, int m, const double x[q], double y[q])
{
    double a[q][m];
    #pragma omp parallel for
    for (int t = 0; t < q; t++) {
        double s = 0.0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= i; k++)
                a[t][i * (i + 1) / 2 + k] = x[t] * (i + k);
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= i; k++)
                s += a[t][i * (i + 1) / 2 + k] * a[t][i * (i + 1) / 2 + k];
        y[t] = s;
    }
}

// kernel: packed_fields
// args: n=3 q=2 s.m[2][6]=0.5,1,1.5,2,0.7,0.9,1.1,1.2,1.3 y[2]=0
// skip: gcc
// adjoints: s.m plain
typedef struct {
    double m[6];
} triangle;
void
packed_fields(int n, int q, const triangle s[q], double y[q])
{
    #pragma omp parallel for
    for (int t = 0; t < q; t++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= i; k++)
                sum += s[t].m[i * (i + 1) / 2 + k] * s[t].m[i * (i + 1) / 2 + k];
        y[t] = sum;
    }
}

// kernel: row_pointers
// args: n=3 q=2 m=6 a[2][6]=0.5,1,1.5,2,0.7,0.9,1.1,1.2,1.3 y[2]=0
// adjoints: a plain
/* a pointer to rows moves along the first axis; subscripts of the rows stay in them */
void
row_pointers(int n, int q, int m, const double a[q][m], double y[q])
{
    #pragma omp parallel for
    for (int t = 0; t < q; t++) {
        const double (*row)[m] = a + t;
        double s = 0.0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= i; k++)
                s += (*row)[i * (i + 1) / 2 + k] * row[0][i * (i + 1) / 2 + k];
        y[t] = s;
    }
}

/* -- what walks ------------------------------------------------------------------------------------- */

// kernel: packed_walk
// args: n=3 q=2 m=6 a[2][6]=0.5,1,1.5,2,0.7,0.9,1.1,1.2,1.3 y[2]=0
// adjoints: a atomic
/* a pointer may leave the row that it was made of */
void
packed_walk(int n, int q, int m, const double a[q][m], double y[q])
{
    #pragma omp parallel for
    for (int t = 0; t < q; t++) {
        const double *row = a[t];
        double s = 0.0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= i; k++)
                s += row[i * (i + 1) / 2 + k] * row[i * (i + 1) / 2 + k];
        y[t] = s;
    }
}

// kernel: packed_walk_in_place
// args: n=3 q=2 m=6 x[2]=0.5,1.5 a[2][6]=0 y[2]=0
// split: refused
// adjoints: a atomic
void
packed_walk_in_place(int n, int q, int m, const double x[q], double a[q][m], double y[q])
{
    #pragma omp parallel for
    for (int t = 0; t < q; t++) {
        double s = 0.0, *row = a[t];
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= i; k++)
                row[i * (i + 1) / 2 + k] = sin(x[t] * (i + k));
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= i; k++)
                s += row[i * (i + 1) / 2 + k] * row[i * (i + 1) / 2 + k];
        y[t] = s;
    }
}

// kernel: one_walks
// args: n=3 q=2 m=6 at=4 a[2][6]=0.5,1,1.5,2,0.7,0.9,1.1,1.2,1.3 y[2]=0
// adjoints: a tested
/* the row's own subscripts say nothing of where the pointer leads */
void
one_walks(int n, int q, int m, int at, const double a[q][m], double y[q])
{
    #pragma omp parallel for
    for (int t = 0; t < q; t++) {
        const double *next = a[t];
        double s = 0.0;
        for (int i = 0; i < n; i++)
            s += a[t][i * (i + 1) / 2] * *(next + at);
        y[t] = s;
    }
}

// kernel: advanced
// args: n=3 q=2 m=6 a[2][6]=0.5,1,1.5,2,0.7,0.9,1.1,1.2,1.3 y[2]=0
// adjoints: a atomic
void
advanced(int n, int q, int m, const double a[q][m], double y[q])
{
    #pragma omp parallel for
    for (int t = 0; t < q; t++) {
        const double *p = a[t];
        double s = 0.0;
        for (int i = 0; i < n; i++, p += i)
            s += p[0] * p[0];
        y[t] = s;
    }
}

// kernel: walked_far
// args: q=2 m=3 far=3 a[3][3]=0.5,1,1.5,2,0.7,0.9,1.1,1.2,1.3 y[2]=0
// adjoints: a tested
/* the next thread's row: there both add */
void
walked_far(int q, int m, int far, const double a[q + 1][m], double y[q])
{
    #pragma omp parallel for
    for (int t = 0; t < q; t++) {
        const double *p = a[t];
        y[t] = a[t][m - 1] * p[far] + a[t][0];
    }
}

/* -- what the launch's sizes decide ------------------------------------------------------------------ */

// kernel: strided
// args: n=3 stride=2 d=2 x[6]=0.5,1,1.5,2,0.7,0.9 y[3]=0
// adjoints: x tested
void
strided(int n, int stride, int d, const double *x, double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int k = 0; k < d; k++)
            s += x[i * stride + k] * x[i * stride + k];
        y[i] = s;
    }
}

// kernel: strided_overlap
// args: n=3 stride=1 d=3 x[6]=0.5,1,1.5,2,0.7,0.9 y[3]=0
// adjoints: x tested
void
strided_overlap(int n, int stride, int d, const double *x, double y[n])
{
    strided(n, stride, d, x, y);
}

// kernel: stride_zero
// args: n=3 stride=0 d=2 x[6]=0.5,1,1.5,2,0.7,0.9 y[3]=0
// adjoints: x tested
void
stride_zero(int n, int stride, int d, const double *x, double y[n])
{
    strided(n, stride, d, x, y);
}

// kernel: stride_negative
// args: n=3 stride=-1 x[6]=0.5,1,1.5,2,0.7,0.9 y[3]=0
// adjoints: x tested
void
stride_negative(int n, int stride, const double *x, double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i * stride + 4] * x[i * stride + 4];
}

// kernel: walked_rows
// args: n=2 m=3 e=3 x[2][3]=0.5,1,1.5,2,0.7,0.9 y[2]=0
// adjoints: x tested
void
walked_rows(int n, int m, int e, const double x[n][m], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        const double *p = x[i];
        double s = 0.0;
        for (int k = 0; k < e; k++)
            s += p[k] * p[k];
        y[i] = s;
    }
}

// kernel: walked_off
// args: n=2 m=2 e=3 x[3][2]=0.5,1,1.5,2,0.7,0.9 y[2]=0
// adjoints: x tested
void
walked_off(int n, int m, int e, const double x[n + 1][m], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        const double *p = x[i];
        double s = 0.0;
        for (int k = 0; k < e; k++)
            s += p[k] * p[k];
        y[i] = s;
    }
}

// kernel: walked_back
// args: n=2 m=2 e=1 x[3][2]=0.5,1,1.5,2,0.7,0.9 y[2]=0
// adjoints: x tested
void
walked_back(int n, int m, int e, const double x[n + 1][m], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        const double *p = x[i + 1];
        double s = 0.0;
        for (int k = -e; k < m; k++)
            s += p[k] * p[k];
        y[i] = s;
    }
}

// kernel: transposed
// args: n=2 m=2 x[2][2]=0.5,1,1.5,2 y[2][2]=0
// adjoints: x plain
void
transposed(int n, int m, const double x[n][m], double y[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i][j] = x[j][i] * x[j][i];
}

// kernel: wraps
// args: n=2 big=65536 x[4]=0.5,1,1.5,2 y[2]=0
// adjoints: x tested
/* i * big * big is 0 in 32 bits for every i */
void
wraps(int n, unsigned big, const double *x, double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[(unsigned)i * (big * big)] * x[(unsigned)i * (big * big)];
}

// kernel: wraps_after
// args: n=3 big=1073741824 x[4]=0.5,1,1.5,2 y[3]=0
// adjoints: x tested
/* 4 * big is 0, and so is 4 * big * i */
void
wraps_after(int n, unsigned big, const double *x, double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        unsigned at = (unsigned)i * big;
        y[i] = x[at * 4] * x[at * 4];
    }
}

// kernel: empty
// args: n=0 d=2 x[6]=0.5,1,1.5,2,0.7,0.9 y[1]=0
// adjoints: x tested
void
empty(int n, int d, const double *x, double y[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i * d] * x[i * d];
}

/* -- threads that meet --------------------------------------------------------------------------- */

// kernel: neighbours
// args: n=4 x[4]=0.5,1,1.5,2 y[4]=0
// adjoints: x atomic
void
neighbours(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
        y[i] = x[i - 1] * x[i + 1];
}

// kernel: next_but_one
// args: n=3 x[4]=0.5,1,1.5,2 y[3]=0
// adjoints: x atomic
void
next_but_one(int n, const double x[n + 1], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i + 1];
}

// kernel: half_speed
// args: n=3 x[6]=0.5,1,1.5,2,0.7,0.9 y[3]=0
// adjoints: x atomic
void
half_speed(int n, const double x[2 * n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[2 * i] * x[i];
}

// kernel: both_ends
// args: n=3 x[3]=0.5,1,1.5 y[3]=0
// adjoints: x atomic
void
both_ends(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[n - 1 - i];
}

// kernel: diagonals
// args: n=2 m=3 x[4]=0.5,1,1.5,2 y[2][3]=0
// adjoints: x atomic
void
diagonals(int n, int m, const double x[n + m - 1], double y[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i][j] = x[i + j] * x[i + j];
}

// kernel: one_index_missing
// args: n=2 m=3 x[2][3]=0.5,1,1.5,2,0.7,0.9 w[2]=1,2 y[2][3]=0
// adjoints: x plain, w atomic
void
one_index_missing(int n, int m, const double x[n][m], const double w[n], double y[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i][j] = x[i][j] * w[i];
}

// kernel: halves
// args: n=4 x[2]=0.5,1 y[4]=0
// adjoints: x atomic
void
halves(int n, const double x[n / 2], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i / 2] * x[i / 2];
}

// kernel: gathered
// args: n=3 at[3]=0,1,0 x[2]=0.5,1 y[3]=0
// adjoints: x atomic
void
gathered(int n, const int at[n], const double x[2], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[at[i]] * x[at[i]];
}

// kernel: narrowed
// args: n=3 x[3]=0.5,1,1.5 y[3]=0
// adjoints: x tested
/* a char holds no more than 127 */
void
narrowed(int n, const double *x, double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[(signed char)i] * x[(signed char)i];
}

// kernel: squares
// args: n=3 x[5]=0.5,1,1.5,2,0.7 y[3]=0
// adjoints: x atomic
void
squares(int n, const double *x, double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i * i] * x[(i - 1) * (i - 1)];
}

// kernel: weights
// args: n=3 d=2 x[3][2]=0.5,1,1.5,2,0.7,0.9 w[2]=1,2 y[3]=0
// adjoints: x plain, w atomic
void
weights(int n, int d, const double x[n][d], const double w[d], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int k = 0; k < d; k++)
            s += x[i][k] * w[k];
        y[i] = s * s;
    }
}

// kernel: picked_neighbours
// args: n=3 steps=2 a[4]=0.5,1,1.5,2 b[4]=0.1,0.2,0.3,0.4
// split: any
// adjoints: p atomic
void
picked_neighbours(int n, int steps, double a[n + 1], double b[n + 1])
{
    double *p = a, *q = b;
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            q[i] = p[i] * p[i + 1];
        double *other = p;
        p = q;
        q = other;
    }
}

// kernel: column_from_memory
// args: n=3 m=2 c[3]=1,0,1 x[3][2]=0.5,1,1.5,2,0.7,0.9 y[3]=0
// adjoints: x plain
/* whatever c[i] is, it stays in the row */
void
column_from_memory(int n, int m, const int c[n], const double x[n][m], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i][c[i]] * x[i][c[i]];
}

// kernel: inner_points
// args: n=2 m=4 x[8]=0.5,1,1.5,2,0.7,0.9,1.2,0.3 y[8]=0
// adjoints: x plain
/* bounds that are sums do not wrap, upwards and downwards */
void
inner_points(int n, int m, const double *x, double *y)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        for (int j = 1; j < m - 1; j++)
            y[i * m + j] = x[i * m + j] * x[i * m + j];
        for (int j = m - 2; j > 0; j--)
            y[i * m + j] += x[i * m + j];
    }
}
