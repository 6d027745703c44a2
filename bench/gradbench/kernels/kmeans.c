/* kmeans: the sum of squared distances to the nearest centroid. SPDX-License-Identifier: Apache-2.0 */
static double
square_distance(int d, const double *a, const double *b)
{
    double sum = 0.0;
    for (int j = 0; j < d; j++) {
        double along = a[j] - b[j];
        sum += along * along;
    }
    return sum;
}

// args: n=4 k=2 d=2 point[4][2]=0,0,1,0,5,5,6,5 centroid[2][2]=0.5,1,5,4 nearest[4]=0 cost[1]=0
// seed: cost=1
// expect: cost=5.5
// grad: centroid=0,4,-2,-4
/* Which centroid is the nearest is a question of its own, without derivatives; nearest is work space. */
void
kmeans(int n, int k, int d, const double point[n][d], const double centroid[k][d], int nearest[n],
       double cost[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double least = square_distance(d, point[i], centroid[0]);
        int best = 0;
        for (int c = 1; c < k; c++) {
            double distance = square_distance(d, point[i], centroid[c]);
            if (distance < least) {
                least = distance;
                best = c;
            }
        }
        nearest[i] = best;
    }
    double total = 0.0;
    #pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++)
        total += square_distance(d, point[i], centroid[nearest[i]]);
    cost[0] = total;
}
