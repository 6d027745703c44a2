// Arrays of structs with nested structs.
// args: n=2 p.m[2]=1,2 p.pos.x[2]=3,4 p.pos.y[2]=5,6 p.k[2]=1,2 p.tag[2]=7,8 out[2]=0
struct vec { float x, y; };
struct body {
    float m;
    struct vec pos;
    int k;
    unsigned char tag;
};
void
records(int n, struct body p[n], double out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        struct body *b = &p[i];
        b->pos.x += b->m * p[i].k;
        p[i].k = p[i].tag + i;
        out[i] = b->pos.x - p[i].pos.y + b->k;
    }
}
