// The compiler's own errors.
#include <math.h>
void
err_clang(int n, float x[n])
{
    x[0] = undeclared; // error: E0400
    x[1] = sinf(1, 2); // error: E0400
    n = "text"; // error: E0400
}
