// memcpy and memset of what is not whole elements.
#include <string.h>
struct named { float v; char *name; };
void
err_memory(int n, int bytes, float x[n], double y[n], int k[n], struct named s[n], unsigned char c[n])
{
    float v = 0;
    memcpy(x, x + n, bytes); // error: E0464
    memcpy(x, x + 2, n * 6); // error: E0464
    memcpy(x, y, n * sizeof(float)); // error: E0465
    memcpy(c, x, n * sizeof(float)); // error: E0465
    memset(x, n, n * sizeof(float)); // error: E0466
    memset(c, n, n);
    memset(x, -1, n * sizeof(float));
    memcpy(x, &v, n * sizeof(float)); // error: E0467
    memcpy(&v, x, 2 * sizeof(v)); // error: E0467
    memcpy(s, s + 1, sizeof *s); // error: E0459
    memset(s, 0, n * sizeof *s); // error: E0459
    memcpy(x, NULL, n * sizeof *x); // error: E0437
    x[0] = memcmp(x, y, 4); // error: E0414
}
