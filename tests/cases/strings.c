// Texts are constant arrays of characters.
// args: n=3 x[3]=0.5,1.5,0.4 y[3]=0
// seed: y=1
#include <string.h>

static double
weight(const char *word, int i)
{
    return word[i] - 'a' + (word[3] == 0);
}

static int
first(int n, ...)
{
    return n;
}

void
strings(int n, const double x[n], double y[n])
{
    const char *word = "bcd";
    char copy[8] = "fgh", more[] = "ij";
    struct { const char *name; double f; } s = {"klm", 2};
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = x[i] * x[i] * weight("nop", i) * weight(word, i) + copy[i] + copy[5] + more[i % 2] + s.name[1] * s.f;
        y[i] *= first(3, x[i], "text") * (sizeof more == 3);
    }
}
