// Types outside of what is compiled.
union both { int i; float f; };
struct flags { unsigned a : 3; };
struct pair { float a, b; };
struct list { int v; struct list *next; };
static int counter, never = 3, zeros[2]; // error: E0421
static float table[2], given[2]; // error: E0421 E0421
extern const int elsewhere; // error: E0463
extern double later[];
double later[] = {1, 2}, defined;
static float *alias = given;
static void
reader(const float *t)
{
    counter = t[0];
}
int
main(void)
{
    reader(table);
    alias[1] = 1;
    table[zeros[1]]++;
    return 0;
}
static int
once(void)
{
    static int calls = 0; // error: E0421
    return ++calls + counter;
}
void
err_types(int n, float x[n])
{
    long double a = 1; // error: E0448
    __int128 b = 2; // error: E0420
    _Complex double c = 3; // error: E0449
    union both d; // error: E0416
    volatile int e = 1; // error: E0417
    struct flags f = {1}; // error: E0427
    struct list g = {1};
    x[1] = g.next->v; // error: E0437
    struct { union { int u; float w; }; } m = {.u = 1}; // error: E0416
    struct { int i; union { int u; float w; }; } o = {.u = 1};
    x[1] = o.w; // error: E0416
    x[2] = (double)(x[0] * 2.0L + a); // error: E0448
    float *i[2];
    x[3] = *i[1]; // error: E0434
    volatile struct list k = {1}; // error: E0417
    volatile struct pair l = {1, 2}; // error: E0417
    x[0] = once() + never + table[1] + given[0] + elsewhere + later[1] + defined + alias[0];
}
