// Rows are overwritten later through an index that loops carry: up, down, and to where it began.
// args: n=5 a[6][6]=0.5,1.1,-0.4,0.3,0.7,-0.9,0.2,0.6,0.8,-0.3,0.4,1.2,0.9,-0.7,0.1,0.5,0.3,-0.2,0.6,0.4,-0.8,1.0,0.7,0.2,-0.5,0.9,0.3,0.1,-0.6,0.8,0.4,-0.1,0.5,0.7,0.2,0.3 key[6]=3,1,4,1,5,2
// split: refused
#include <math.h>

void
swapped_later(int n, double a[n + 1][n + 1], const int key[n + 1])
{
    for (int k = 1; k < n; k++) {
        int up = k, down = k, start = n;
        for (int i = 0; i <= n; i++) {
            if (key[i] > key[up])
                up = i > k ? i : up;
            if (key[i] < key[down])
                down = down > 0 ? down - 1 : down;
            if (key[i] == 4)
                start = i;
        }
        for (int j = 0; j < n; j++)
            a[up][j] += sin(a[k - 1][j]) * a[down][j + 1];
        for (int j = 0; j < n; j++)
            a[start][j] = 0.5 * a[start][j] * a[k][j];
    }
}
