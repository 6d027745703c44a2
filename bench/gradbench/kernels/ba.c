/* ba: bundle adjustment. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

// args: p=2 parameter[2][15]=0.1,-0.2,0.3,0.5,-0.4,-6,2,0.1,-0.1,0.02,0.01,1,0.5,0.2,0.8,0,0,0,0.5,-0.4,-6,2,0.1,-0.1,0.02,0.01,-0.7,0.3,0.1,1.1
// args: feature[2][2]=0.3,0.2,-0.4,0.1 reprojection[2][2]=0
// skip: second (the second camera stands at the branch for no rotation)
/* One thread for each observation. Its parameters: a camera (rotation, centre, focal length, principal
 * point, two distortions), a point and a weight. */
void
ba(int p, const double parameter[p][15], const double feature[p][2], double reprojection[p][2])
{
    #pragma omp parallel for
    for (int i = 0; i < p; i++) {
        const double *r = parameter[i], *centre = r + 3, *lens = r + 6, *point = r + 11;
        double v[3], at[3];
        for (int k = 0; k < 3; k++)
            v[k] = point[k] - centre[k];
        double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        if (square != 0.0) {
            double theta = sqrt(square), c = cos(theta), s = sin(theta), part = 1.0 / theta;
            double axis[3] = {r[0] * part, r[1] * part, r[2] * part};
            double along = (axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2]) * (1.0 - c);
            for (int k = 0; k < 3; k++) {
                int a = (k + 1) % 3, b = (k + 2) % 3;
                at[k] = v[k] * c + (axis[a] * v[b] - axis[b] * v[a]) * s + axis[k] * along;
            }
        } else {
            for (int k = 0; k < 3; k++) {
                int a = (k + 1) % 3, b = (k + 2) % 3;
                at[k] = v[k] + r[a] * v[b] - r[b] * v[a];
            }
        }
        double u0 = at[0] / at[2], u1 = at[1] / at[2], s = u0 * u0 + u1 * u1;
        double scale = lens[0] * (1.0 + lens[3] * s + lens[4] * s * s);
        reprojection[i][0] = r[14] * (scale * u0 + lens[1] - feature[i][0]);
        reprojection[i][1] = r[14] * (scale * u1 + lens[2] - feature[i][1]);
    }
}

// kernel: ba_weights
// args: p=2 weight[2]=0.8,1.1 weight_error[2]=0
// seed: weight_error=1,1
// grad: weight=-1.6,-2.2
void
ba_weights(int p, const double weight[p], double weight_error[p])
{
    #pragma omp parallel for
    for (int i = 0; i < p; i++)
        weight_error[i] = 1.0 - weight[i] * weight[i];
}
