// Records are copied from arrays, tables and parameters that are const.
// args: n=6 p.x[6]=1,2,-3,0.5,2,1 p.y[6]=0.25,-1,2,3,1.5,-2 out[6]=0
typedef struct { double x, y; } vec2;
static const vec2 corners[2] = {{0.5, 0.25}, {1.5, -0.75}};
static vec2
turned(const vec2 v, const vec2 by)
{
    vec2 r = v;
    r.x = v.x * by.x - v.y * by.y;
    r.y = v.x * by.y + v.y * by.x;
    return r;
}
void
const_records(int n, const vec2 p[n], double out[n])
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        vec2 v = p[i], c = corners[i % 2];
        const vec2 pair[2] = {v, p[(i + 1) % n]};
        vec2 t = turned(pair[1], c);
        out[i] = v.x * v.y + t.x * c.y + t.y * pair[0].x;
    }
}
