// Loops of a thread whose iterations have nothing to do with each other run where they are reversed. Behind them stand stores of
// their sums, stores to what they read, and reads of what they wrote; within them loops that recur and end early, and others
// whose iterations are apart as well.
#include <math.h>

// kernel: swept_loops
// args: n=6 m=5 none=0 x[6]=0.3,-0.8,1.2,0.5,-0.4,0.9 w[5]=0.7,1.1,-0.6,0.4,1.3 y[6]=0.2,0.4,0.6,0.8,1.0,1.2 z[6][5]=0.1 r[6]=0.5 v[6]=1.1,0.8,0.9,1.2,0.7,1.0 at[6]=2,0,5,1,1,3 loss[1]=0.1
// split: refused
// skip: bits
void
swept_loops(int n, int m, int none, double x[n], const double w[m], double y[n], double z[n][m], double r[n], double v[n],
            const int at[n], double loss[1])
{
    double total = 0.0;
    #pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++) {
        double scale = sqrt(1.0 + x[i] * x[i]), near = 0.0, far = 1.0, least = 2.0;

        /* sums, of which one is never added to in some iterations, and one is taken away from */
        for (int j = 0; j < m; j++) {
            double d = scale - w[j] * v[i];
            if (d * d < 0.1)
                continue;
            double e = exp(-d * d);
            if (e > 0.5)
                near += e * w[j];
            else if (e > 0.1)
                near -= e;
            for (int k = 0; k < j; k++)
                far = w[k] > 0.0 ? far + sin(d * w[k]) : far;
        }

        /* the elements that a loop reads and writes are overwritten behind it; a loop within it recurs and ends early */
        for (int j = 0; j < m; j++) {
            double c = z[i][j] + x[i];
            for (int k = 0; k < 9; k++) {
                c = cos(c) * w[j];
                if (c > 0.9)
                    break;
            }
            z[i][j] = c * scale;
            least += c / (1.0 + scale);
        }
        v[i] = 0.5 * r[i];
        x[i] = 0.5 * x[i] + near;
        r[i] += z[i][1] + 2.0 * z[i][m - 1];

        /* a loop that does not run, with nothing behind it that it needs */
        for (int j = 0; j < none; j++)
            r[i] += sqrt(w[j] + scale);

        /* what is read here was not linear in the sum before: that loop records */
        double again = 0.0;
        for (int j = 0; j < m; j++)
            again += log(2.0 + w[j] * w[j] + least * least);
        y[i] = 0.5 * y[i] - again + far;
        total += near + again;
    }
    loss[0] += 3.0 * total;
}

// kernel: sums_and_most
// args: n=6 m=5 x[6]=0.3,-0.8,1.2,0.5,-0.4,0.9 w[5]=0.7,1.1,-0.6,0.4,1.3 y[6]=0.2,0.4,0.6,0.8,1.0,1.2 loss[2]=0.1,0.2
// skip: bits
void
sums_and_most(int n, int m, const double x[n], const double w[m], double y[n], double loss[2])
{
    double total = 0.0, most = -1e30;
    #pragma omp parallel for reduction(+ : total) reduction(max : most)
    for (int i = 0; i < n; i++) {
        double sum = 0.0, square = 0.0, deep = 0.0;
        for (int j = 0; j < m; j++)
            sum += exp(-w[j] * x[i]);
        for (int j = 0; j < m; j++) {
            double root = sqrt(1.0 + w[j] * x[i] * w[j] * x[i]);
            square += root;
            for (int k = j; k < m; k++)
                deep -= sin(root * w[k]);
        }
        y[i] += square - deep;
        total += 0.5 * square + deep;
        most = fmax(most, sum);
    }
    loss[0] += total * total;
    loss[1] += most;
}

/* Under a condition, and with additions to elements of others. */
// kernel: guarded_pairs
// args: n=6 m=3 on[6]=1,1,0,1,0,1 nb[6][3]=1,2,4,3,5,0,1,2,5,0,4,2,5,3,1,2,0,4 x[6]=0.3,-0.8,1.2,0.5,-0.4,0.9 f[6]=0.2,0.4 e[6]=0.3
// skip: bits
void
guarded_pairs(int n, int m, const int on[n], const int nb[n][m], const double x[n], double f[n], double e[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sum = 0.0, most = 0.5;
        int close = 0;
        if (on[i]) {
            double all = 0.0;
            for (int k = 0; k < m; k++) {
                double d = x[i] - x[nb[i][k]];
                double r = sqrt(d * d + 0.1);
                if (r > 1.4)
                    continue;
                sum += 1.0 / r;
                close += r < 0.8;
                all += d / (r * r);
                #pragma omp atomic
                f[nb[i][k]] -= d / (r * r);
            }
            #pragma omp atomic
            f[i] += all;
        } else {
            sum = x[i] * x[i];
            most = sin(x[i]);
        }
        e[i] += 0.5 * sum - most + 0.1 * close;
    }
}

/* Quotients and products of sums by what stands behind their loop: loads, a loop that records, elements that are updated. */
// kernel: weighted_sums
// args: n=6 m=5 x[6]=0.3,-0.8,1.2,0.5,-0.4,0.9 w[5]=0.7,1.1,-0.6,0.4,1.3 mass[6]=1.5,2.0,0.8,1.1 rho[6]=0.9,1.3,0.7 acc[6]=0.5 z[6][5]=0.3,0.8,-0.2 loss[1]=0
// split: refused
// skip: bits
void
weighted_sums(int n, int m, double x[n], const double w[m], const double mass[n], double rho[n], double acc[n], double z[n][m],
              double loss[1])
{
    double total = 0.0;
    #pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++) {
        double sum = 0.0, other = 0.2;
        for (int j = 0; j < m; j++) {
            sum += exp(-x[i] * w[j] * z[i][j]);
            other -= sqrt(1.0 + x[i] * x[i] * w[j] * w[j]);
        }
        double slow = mass[i];
        for (int k = 0; k < m; k++)
            slow = sin(slow) + w[k];
        double share = sum / (rho[i] * mass[i]);
        rho[i] = rho[i] * rho[i] + share * slow;
        acc[i] += other * slow + 2.0 * share;
        z[i][1] = z[i][1] * z[i][0] + share;
        x[i] = x[i] * 0.5 - share;
        total += 3.0 * share - other * mass[i];
    }
    loss[0] += 0.5 * total;
}

/* Local arrays of whole numbers beside a loop: what is read from them behind it, and what is stored in them, depends on what it wrote. */
// kernel: counted_behind
// args: n=5 m=8 x[5]=0.3,-0.8,1.2,0.5,-0.4 w[8]=0.7,1.1,0.6,0.4,1.3,0.2 y[5]=0.2,0.4 mark[5][8]=0 count[5]=0
// skip: bits
void
counted_behind(int n, int m, const double x[n], const double w[8], double y[n], int mark[n][8], int count[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int before[4] = {1, 2, 3, 4}, after[2] = {0, 1};
        double sum = 0.0;
        for (int j = 0; j < 8; j++) {
            sum += sqrt(1.0 + x[i] * x[i] * w[j]);
            mark[i][j] = i + j;
        }
        int at = mark[i][m & 7];
        int number = before[at & 3];
        before[m & 3] = 7;
        after[m & 1] = at;
        for (int k = 0; k < m; k++)
            for (int l = 0; l < m; l++)
                number += after[k & 1] * (l + after[l & 1]);
        count[i] = number + 10 * before[0];
        y[i] += sum;
    }
}
