/* ht: a hand's skeleton bends its skin towards measured points. SPDX-License-Identifier:
 * Apache-2.0 */
#include <math.h>
#include <stdbool.h>

enum { BONES = 22 }; /* at most */

/* Affine maps are 4 x 4 matrices column by column, their last row 0 0 0 1 or, where nothing reads it, zeros. */

/* to = a b */
static void
compose(double to[16], const double a[16], const double b[16])
{
    for (int column = 0; column < 4; column++) {
        double sum[4] = {0.0, 0.0, 0.0, 0.0};
        for (int k = 0; k < 4; k++)
            for (int row = 0; row < 4; row++)
                sum[row] += a[4 * k + row] * b[4 * column + k];
        for (int row = 0; row < 4; row++)
            to[4 * column + row] = sum[row];
    }
}

/* The rotation about x by `flex`, then about z by `spread`. */
static void
bend(double to[16], double flex, double spread)
{
    double cx = cos(flex), sx = sin(flex), cz = cos(spread), sz = sin(spread);
    double m[16] = {cz, sz, 0.0, 0.0, -sz * cx, cz * cx, sx, 0.0,
                    sz * sx, -cz * sx, cx, 0.0, 0.0, 0.0, 0.0, 1.0};
    for (int k = 0; k < 16; k++)
        to[k] = m[k];
}

/* The rotation with axis and angle r, by Rodrigues' formula, behind a reflection in x (side == -1). */
static void
turn(double to[16], const double *r, double side)
{
    double norm = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    for (int k = 0; k < 16; k++)
        to[k] = k % 5 == 0 ? 1.0 : 0.0;
    to[0] = side;
    if (norm < 1e-4)
        return;
    double x = r[0] / norm, y = r[1] / norm, z = r[2] / norm, s = sin(norm), c = cos(norm);
    double d = 1.0 - c;
    to[0] = side * (x * x * d + c);
    to[1] = side * (x * y * d + z * s);
    to[2] = side * (x * z * d - y * s);
    to[4] = x * y * d - z * s;
    to[5] = y * y * d + c;
    to[6] = y * z * d + x * s;
    to[8] = x * z * d + y * s;
    to[9] = y * z * d - x * s;
    to[10] = z * z * d + c;
}

static void
transpose(double to[16], const double *from)
{
    for (int k = 0; k < 16; k++)
        to[k] = from[4 * (k % 4) + k / 4];
}

/* Bone b's own bend: fingers have three bones that bend and one between them that does not, four
 * angles each; the first bone of a finger also spreads. */
static void
bend_bone(double to[16], int b, const double theta[26])
{
    int finger = (b - 2) / 4, joint = (b - 2) % 4, at = 6 + 4 * finger + joint + (joint > 0);
    double flex = 0.0, spread = 0.0;
    if (b >= 2 && joint < 3 && at < 26) {
        flex = theta[at];
        if (joint == 0)
            spread = theta[at + 1];
    }
    bend(to, flex, spread);
}

/* Where the bones take a vertex. Two columns of a map are worked on at a time. */
static void
move(double to[4], int bones, const double base[4], const double *weight, const double final[][16])
{
    double across[16], sum[8];
    for (int k = 0; k < 16; k++)
        across[k] = base[k / 4];
    for (int k = 0; k < 8; k++)
        sum[k] = 0.0;
    for (int b = 0; b < bones; b++) {
        if (weight[b] == 0.0)
            continue;
        for (int half = 0; half < 16; half += 8)
            for (int k = 0; k < 8; k++)
                sum[k] += weight[b] * across[half + k] * final[b][half + k];
    }
    for (int k = 0; k < 4; k++)
        to[k] = sum[k] + sum[k + 4];
}

// args: bones=4 vertices=4 faces=2 count=3 placed=3 mirrored=1
// args: theta[26]=0.3,-0.2,0.4,0.1,0.2,-0.3,0.5,-0.4,0.3,0.2,0.1,0.7 parent[4]=-1,0,1,2
// args: relative[4][16]=1,0,0,0.1,0,1,0,0.2,0,0,1,0.3,0,0,0,1,0.8,-0.6,0,0.1,0.6,0.8,0,0.2,0,0,1,0.3,0,0,0,1,1,0,0,0.1,0,0.8,-0.6,0.5,0,0.6,0.8,0.3,0,0,0,1,1,0,0,0.4,0,1,0,0.2,0,0,1,0.1,0,0,0,1
// args: inverse[4][16]=1,0,0,-0.1,0,1,0,-0.2,0,0,1,0.5,0,0,0,1,0.8,0.6,0,0.3,-0.6,0.8,0,0,0,0,1,0,0,0,0,1,1,0,0,0.5,0,0.8,0.6,0,0,-0.6,0.8,0,0,0,0,1,1,0,0,0.2,0,1,0,0,0,0,1,0,0,0,0,1
// args: base[4][4]=0.5,-0.25,1,1,0.75,0.5,-0.5,1,-1,0.3,0.2,1,0.1,0.9,0.4,1
// args: weight[4][4]=0.25,0.7,0.03,0.02,0.1,0.4,0.5,0.05,0.1,0.1,0.2,0.6,0.7,0.1,0.1,0.1 face[2][3]=0,1,2,1,2,3
// args: correspondence[3]=1,0,1 point[3][3]=0.1,0.2,0.3,-0.4,0.5,0.6,0.7,-0.8,0.9
// args: us[3][2]=0.2,0.3,0.5,0.1,-0.2,0.6 absolute[22][16]=0 final[22][16]=0 error[3][3]=0
// split: any
/* theta is rotation, translation and 20 angles of bones; relative, inverse: 4 x 4 matrices row by row. Each
 * correspondence compares a point with a vertex (placed == 0) or with the place us on a face (placed ==
 * count). absolute and final are work space: each bone's map to the turned hand, and from where it rests to
 * where it is then. */
void
ht(int bones, int vertices, int faces, int count, int placed, bool mirrored,
   const double theta[26], const int parent[bones], const double relative[bones][16],
   const double inverse[bones][16], const double base[vertices][4],
   const double weight[vertices][bones], const int face[faces][3], const int correspondence[count],
   const double point[count][3], const double us[placed][2], double absolute[BONES][16],
   double final[BONES][16], double error[count][3])
{
    double hand[16];
    turn(hand, theta, mirrored ? -1.0 : 1.0);
    for (int b = 0; b < bones; b++) {
        double bent[16], own[16], by[16];
        bend_bone(bent, b, theta);
        transpose(by, relative[b]);
        compose(own, by, bent);
        if (parent[b] < 0)
            compose(absolute[b], hand, own);
        else
            compose(absolute[b], absolute[parent[b]], own);
        transpose(by, inverse[b]);
        compose(final[b], absolute[b], by);
    }
    #pragma omp parallel for
    for (int i = 0; i < count; i++) {
        int c = correspondence[i];
        double at[4] = {0.0, 0.0, 0.0, 0.0};
        for (int corner = 0; corner < (placed ? 3 : 1); corner++) {
            int v = placed ? face[c][corner] : c;
            double moved[4], share = 1.0;
            if (placed)
                share = corner < 2 ? us[i][corner] : 1.0 - us[i][0] - us[i][1];
            move(moved, bones, base[v], weight[v], final);
            for (int k = 0; k < 4; k++)
                at[k] += share * moved[k];
        }
        for (int k = 0; k < 3; k++)
            error[i][k] = point[i][k] - at[k] - theta[3 + k];
    }
}
