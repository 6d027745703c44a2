// Records read through a qualified type are copied wherever one may stand.
// args: n=3 p.x[3]=1,3,5 p.y[3]=2,4,6 p.mass[3]=0.5,0.25,2 out[30]=0
typedef struct { double x, y, mass; } body;
typedef const body fixed_body;
struct pair { body a; const body b; };
struct holder { struct pair in[2]; };
struct rows { double of[2]; };
static const body table[2] = {{1, 2, 3}, {4, 5, 6}};
static double
total(const body b)
{
    body own = b;
    const body again = own;
    body last = again;
    last.mass += own.x;
    return last.mass + b.y;
}
static const body
heavier(const body *b, double by)
{
    body r = *b;
    r.mass += by;
    return r;
}
static double
through(fixed_body *const b)
{
    fixed_body first = b[0];
    body second = first;
    second = b[1];
    return first.mass * second.mass;
}
void
const_records(int n, const body p[n], double out[restrict 30])
{
    body element = p[0], pointed = *(p + 1), constant = table[1];
    out[0] = element.x + pointed.y * constant.mass;
    body row[2] = {p[0], p[1]};
    out[1] = row[0].mass + row[1].x;
    const body fixed_row[3] = {p[2], table[0], element};
    out[2] = fixed_row[0].mass + fixed_row[1].mass * fixed_row[2].y;
    body named = {.x = p[0].y, .y = p[1].x, .mass = p[2].mass};
    out[3] = named.x - named.y * named.mass;
    struct pair nested = {p[1], p[2]}, designated = {.b = table[1], .a = p[0]};
    out[4] = nested.a.mass + nested.b.x + designated.a.y + designated.b.mass;
    struct pair copy = nested;
    out[5] = copy.b.y;
    struct holder deep = {{{p[0], p[1]}, [1].b = p[2]}};
    out[6] = deep.in[0].b.mass + deep.in[1].b.mass + deep.in[1].a.mass;
    body partly[3] = {[1] = p[0], fixed_row[0]};
    out[7] = partly[0].mass + partly[1].mass * 2 + partly[2].mass * 3;
    body result = heavier(&p[1], 1);
    const body kept = heavier(&result, 2);
    body from_kept = kept;
    out[8] = result.mass + from_kept.mass;
    out[9] = total(p[0]) + total(table[0]) + through(p);
    body chosen = n > 2 ? p[2] : table[0];
    out[10] = chosen.mass;
    body assigned;
    assigned = p[1];
    body comma = (assigned.mass = 3, p[0]);
    out[11] = assigned.mass + comma.mass;
    out[12] = ((body *)p)[2].mass;
    const body *q = p;
    for (int i = 0; i < n; i++, q++) {
        body b = *q;
        const body c = b;
        struct pair pair = {c, b};
        out[13 + i] = pair.a.mass * pair.b.y;
    }
    const struct rows rows = {{n, 2}}, others[1] = {rows};
    struct rows own = others[0];
    out[17] = own.of[0] + own.of[1];
    body literal = (const body){7, 8, 9};
    out[16] = literal.mass + (const struct pair){p[0], table[1]}.b.mass;
}
