// The other names of memcpy and its like: those that headers make of them, and older ones.
// args: n=5 x[5]=1,2,3,4,5 y[5]=0 k[5]=9
void bzero(void *, unsigned long);
void bcopy(const void *, void *, unsigned long);
#define OBJECT(p) __builtin_object_size(p, 0)
void
memory_names(int n, double x[n], double y[n], int k[n])
{
    __builtin___memcpy_chk(y, x, n * sizeof(double), OBJECT(y));
    bcopy(y, x + 1, (n - 1) * sizeof(*x));
    __builtin___memmove_chk(y, y + 2, (n - 2) * sizeof(double), OBJECT(y));
    bzero(k, 2 * sizeof(int));
    __builtin___memset_chk(k + 3, 1, sizeof(int), OBJECT(k));
    __builtin_memset(&k[4], -1, sizeof k[4]);
    double *end = __builtin_memcpy(x, y, sizeof(double));
    end[1] += 2;
}
