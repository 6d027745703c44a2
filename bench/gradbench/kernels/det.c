/* det: a determinant by expansion of minors, its recursion on a stack of its own. SPDX-License-Identifier: Apache-2.0 */

// args: l=3 a[3][3]=2,1,3,0,4,1,5,2,6 out[1]=0
// seed: out=1
// expect: out=-11
// grad: a=22,5,-20,0,-3,1,-11,-2,8
enum { DEEPEST = 20 };

void
det(int l, const double a[l][l], double out[1])
{
    double sum[DEEPEST];
    int column[DEEPEST], tried[DEEPEST], level = 0;
    unsigned used = 0;
    sum[0] = 0.0;
    column[0] = -1;
    tried[0] = 0;
    while (level >= 0) {
        int c = column[level] + 1;
        if (c > 0)
            used &= ~(1u << (c - 1));
        while (c < l && (used >> c & 1u))
            c++;
        if (c == l) { /* this minor is complete: it goes into the expansion one row up */
            double minor = sum[level];
            level--;
            if (level >= 0) {
                double term = a[level][column[level]] * minor;
                sum[level] += tried[level] & 1 ? -term : term;
                tried[level]++;
            }
            continue;
        }
        column[level] = c;
        used |= 1u << c;
        if (level == l - 1) {
            sum[level] += a[level][c];
        } else {
            level++;
            sum[level] = 0.0;
            column[level] = -1;
            tried[level] = 0;
        }
    }
    out[0] = sum[0];
}
