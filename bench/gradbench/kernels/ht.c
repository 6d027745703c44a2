/* ht: a hand's skeleton bends its skin towards measured points. SPDX-License-Identifier:
 * Apache-2.0 */
#include <math.h>
#include <stdbool.h>

enum { BONES = 22 }; /* at most */

/* Affine maps are the upper three rows of 4 x 4 matrices. */

/* to = a b */
static void
compose(double to[12], const double a[12], const double b[12])
{
    for (int row = 0; row < 3; row++) {
        const double *r = a + 4 * row;
        for (int column = 0; column < 3; column++)
            to[4 * row + column] = r[0] * b[column] + r[1] * b[4 + column] + r[2] * b[8 + column];
        to[4 * row + 3] = r[0] * b[3] + r[1] * b[7] + r[2] * b[11] + r[3];
    }
}

static void
set_rows(double to[12], double xx, double xy, double xz, double yx, double yy, double yz, double zx,
         double zy, double zz)
{
    to[0] = xx, to[1] = xy, to[2] = xz, to[3] = 0.0;
    to[4] = yx, to[5] = yy, to[6] = yz, to[7] = 0.0;
    to[8] = zx, to[9] = zy, to[10] = zz, to[11] = 0.0;
}

/* The rotation about x by `flex`, then about z by `spread`. */
static void
bend(double to[12], double flex, double spread)
{
    double cx = cos(flex), sx = sin(flex), cz = cos(spread), sz = sin(spread);
    set_rows(to, cz, -sz * cx, sz * sx, sz, cz * cx, -cz * sx, 0.0, sx, cx);
}

/* The rotation with axis and angle r, by Rodrigues' formula, behind a reflection in x (side == -1). */
static void
turn(double to[12], const double *r, double side)
{
    double norm = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    if (norm < 1e-4) {
        set_rows(to, side, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
    } else {
        double x = r[0] / norm, y = r[1] / norm, z = r[2] / norm, s = sin(norm), c = cos(norm);
        double d = 1.0 - c;
        set_rows(to, side * (x * x * d + c), x * y * d - z * s, x * z * d + y * s,
                 side * (x * y * d + z * s), y * y * d + c, y * z * d - x * s,
                 side * (x * z * d - y * s), y * z * d + x * s, z * z * d + c);
    }
}

/* Bone b's own bend: fingers have three bones that bend and one between them that does not, four
 * angles each; the first bone of a finger also spreads. */
static void
bend_bone(double to[12], int b, const double theta[26])
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

typedef struct place {
    double x, y, z;
} place;

/* a row of a map, at a vertex */
static double
along(const double row[4], const double base[4])
{
    return row[0] * base[0] + row[1] * base[1] + row[2] * base[2] + row[3] * base[3];
}

/* Where the bones take a vertex. */
static place
move(int bones, const double base[4], const double *weight, const double final[][12])
{
    place to = {0.0, 0.0, 0.0};
    for (int b = 0; b < bones; b++) {
        if (weight[b] == 0.0)
            continue;
        to.x += weight[b] * along(final[b], base);
        to.y += weight[b] * along(final[b] + 4, base);
        to.z += weight[b] * along(final[b] + 8, base);
    }
    return to;
}

// args: bones=4 vertices=4 faces=2 count=3 placed=3 mirrored=1
// args: theta[26]=0.3,-0.2,0.4,0.1,0.2,-0.3,0.5,-0.4,0.3,0.2,0.1,0.7 parent[4]=-1,0,1,2
// args: relative[4][16]=1,0,0,0.1,0,1,0,0.2,0,0,1,0.3,0,0,0,1,0.8,-0.6,0,0.1,0.6,0.8,0,0.2,0,0,1,0.3,0,0,0,1,1,0,0,0.1,0,0.8,-0.6,0.5,0,0.6,0.8,0.3,0,0,0,1,1,0,0,0.4,0,1,0,0.2,0,0,1,0.1,0,0,0,1
// args: inverse[4][16]=1,0,0,-0.1,0,1,0,-0.2,0,0,1,0.5,0,0,0,1,0.8,0.6,0,0.3,-0.6,0.8,0,0,0,0,1,0,0,0,0,1,1,0,0,0.5,0,0.8,0.6,0,0,-0.6,0.8,0,0,0,0,1,1,0,0,0.2,0,1,0,0,0,0,1,0,0,0,0,1
// args: base[4][4]=0.5,-0.25,1,1,0.75,0.5,-0.5,1,-1,0.3,0.2,1,0.1,0.9,0.4,1
// args: weight[4][4]=0.25,0.7,0.03,0.02,0.1,0.4,0.5,0.05,0.1,0.1,0.2,0.6,0.7,0.1,0.1,0.1 face[2][3]=0,1,2,1,2,3
// args: correspondence[3]=1,0,1 point[3][3]=0.1,0.2,0.3,-0.4,0.5,0.6,0.7,-0.8,0.9
// args: us[3][2]=0.2,0.3,0.5,0.1,-0.2,0.6 absolute[22][12]=0 final[22][12]=0 error[3][3]=0
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
   const double point[count][3], const double us[placed][2], double absolute[BONES][12],
   double final[BONES][12], double error[count][3])
{
    double hand[12];
    turn(hand, theta, mirrored ? -1.0 : 1.0);
    for (int b = 0; b < bones; b++) {
        double bent[12], own[12];
        bend_bone(bent, b, theta);
        compose(own, relative[b], bent);
        if (parent[b] < 0)
            compose(absolute[b], hand, own);
        else
            compose(absolute[b], absolute[parent[b]], own);
        compose(final[b], absolute[b], inverse[b]);
    }
    #pragma omp parallel for
    for (int i = 0; i < count; i++) {
        int c = correspondence[i];
        place at = {0.0, 0.0, 0.0};
        for (int corner = 0; corner < (placed ? 3 : 1); corner++) {
            int v = placed ? face[c][corner] : c;
            double share = 1.0;
            if (placed)
                share = corner < 2 ? us[i][corner] : 1.0 - us[i][0] - us[i][1];
            place moved = move(bones, base[v], weight[v], final);
            at.x += share * moved.x;
            at.y += share * moved.y;
            at.z += share * moved.z;
        }
        error[i][0] = point[i][0] - at.x - theta[3];
        error[i][1] = point[i][1] - at.y - theta[4];
        error[i][2] = point[i][2] - at.z - theta[5];
    }
}
