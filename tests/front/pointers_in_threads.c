// Pointers inside threads: assigned later, walking rows, to locals, to structs.
// args: n=3 m=4 a[3][4]=1,2,3,4,5,6,7,8,9,10,11,12 b[3][2][2]=1,2,3,4,5,6,7,8,9,10,11,12 p.x[3]=1,2,3 p.v[3]=4,5,6 y[3]=0
struct pv { double x, v; };
void
pointers_in_threads(int n, int m, const double a[n][m], const double b[n][2][2], struct pv p[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        const double *row, *end;
        double t[4] = {0}, *w = t, s = 0;
        row = a[i];
        for (end = row + m; row < end; row++)
            *w++ = *row * 2;
        const double *inner;
        inner = &b[i][1][0];
        s += inner[0] * inner[1];
        const double (*pair)[2] = b[i];
        pair++;
        s += (*pair)[1] + pair[-1][0];
        w = t;
        for (int k = 0; k < 4; k++, w++)
            s += *w;
        struct pv *q = p + i;
        q->x += q->v;
        (*q).v = (&p[i])->x + s;
        double *f = &q->v;
        *f += 1;
        y[i] = *f + (w - t);
    }
}
