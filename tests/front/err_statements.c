// Statements outside of what is compiled.
#include <stdlib.h>
#include <stdio.h>
void
err_statements(int n, float x[n])
{
    int i = 0;
again:
    i++;
    if (i < n)
        goto again; // error: E0410
    asm("nop"); // error: E0419
    switch (n) {
    case 1:
        if (i) {
        case 2: // error: E0426
            i++;
        }
    }
    while (x[0] < 1)
        x[0] = ({ if (n) continue; 2; }); // error: E0423
    x[0] = _Generic(n, int: 1, default: 2); // error: E0423
    printf("%p\n", (void *)x); // error: E0470
    printf(n ? "a" : "b"); // error: E0470
    const int *s = L"text"; // error: E0422
}
