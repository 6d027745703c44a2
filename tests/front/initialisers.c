// Brace elision, designators, nesting, trailing zeros.
// args: v=2.5 out[10]=0
struct point { int x, y; };
struct shape { struct point at[2]; float w; };
void
initialisers(double v, double out[10])
{
    int a[2][3] = {1, 2, 3, 4};
    int b[] = {[3] = 7, 8, [1] = 2};
    struct point p[3] = {1, 2, {.y = 4}, 5};
    struct shape s = {1, 2, 3, 4, v}, t = {.at[1].y = 9, .w = 1, .at = {[0] = {6}}};
    double runtime[4] = {v, v * v, [3] = v + 1};
    out[0] = a[0][2] * 10 + a[1][0] + a[1][1];
    out[1] = b[1] * 100 + b[3] * 10 + b[4] + sizeof(b) / sizeof(b[0]);
    out[2] = p[0].x + p[0].y * 10 + p[1].x * 100 + p[1].y * 1000 + p[2].x * 10000 + p[2].y;
    out[3] = s.at[0].x + s.at[0].y * 10 + s.at[1].x * 100 + s.at[1].y * 1000;
    out[4] = s.w;
    out[5] = t.at[0].x * 100 + t.at[0].y * 10 + t.at[1].y + t.w;
    out[6] = runtime[0] + runtime[1] + runtime[2] + runtime[3];
    out[7] = (int[]){4, 5, 6}[(int)v];
    out[8] = ((struct point){.y = 3}).y;
    const double *q = (double[2]){v, 1};
    out[9] = q[0] - q[1];
}
