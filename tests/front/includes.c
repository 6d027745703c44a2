// Own includes and macros; a kernel among functions that are not one.
// args: n=3 x[3]=1,2,3
#include "include/helper.h"
void
includes(int n, double x[n])
{
    accumulate_into(n, x, TIMES(2));
}
int main(void)
{
    return 0;
}
