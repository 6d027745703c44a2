/* Functions that write through a pointer, or let it go somewhere. */
static double a[3] = {1, 2, 3}; // error: E0421
static double b[3] = {1, 2, 3}; // error: E0421
static double c[3] = {1, 2, 3}; // error: E0421
static double d[3] = {1, 2, 3}; // error: E0421
static double e[2][3] = {1, 2, 3}; // error: E0421
static double f[3] = {1, 2, 3}; // error: E0421
static double g[3] = {1, 2, 3};
static double *kept;
static void writes(double *p) { p[1] = 2; }
static void passes(double *p) { writes(p + 1); }
static void keeps(double *p) { kept = p; }
static void moves(double *p) { double *q = p; *q = 1; }
static void row(double (*p)[3]) { double *q = p[1]; q[0]++; }
static void walks(double *p) { (*p++)++; }
static double first(double *p) { return *p; }
static double reads(double *p, int n) { return n ? p[0] : first(&p[n]) + first(p + 1); }
void others(void) { writes(a); passes(b); keeps(c); moves(d); row(e); walks(f); }
double more(void) { return reads(g, 1); }
double err_statics(double x) { return x * a[0] * b[0] * c[0] * d[0] * e[0][0] * f[0]; }
