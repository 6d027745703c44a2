/* The kernels of the bench on GPUs, plain C in f32: a thread for each item, data laid out so that neighbours
 * read neighbours. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

// kernel: empty
// args: n=1
void
empty(int n)
{
}

// kernel: sines
// args: n=4 steps[4]=3,0,17,5 x[4]=0.5,0.25,0.9,0.1 y[4]=0
/* A recurrence of one transcendental function, each thread with its own number of steps. */
void
sines(int n, const int steps[n], const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < steps[i]; t++)
            v = sinf(v) + 0.1f;
        y[i] = v;
    }
}

// kernel: products
// args: n=4 steps[4]=3,0,17,5 x[4]=0.5,0.25,0.9,0.1 y[4]=0
/* The same with nothing but multiplications and additions. */
void
products(int n, const int steps[n], const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < steps[i]; t++)
            v = v * (1.0f - 0.1f * v) + 0.1f * v;
        y[i] = v;
    }
}

// kernel: pendulums
// args: n=3 steps[3]=3,0,17 x[3]=0.5,0.25,0.9 y[3]=0
/* A chain of five pendulums of which each pulls at its neighbours, in f64: a step needs all ten numbers of the one before it again. */
void
pendulums(int n, const int steps[n], const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double angle[5], speed[5], sum = 0.0;
        for (int k = 0; k < 5; k++) {
            angle[k] = (k + 1) * x[i];
            speed[k] = 0.0;
        }
        for (int t = 0; t < steps[i]; t++) {
            for (int k = 0; k < 5; k++) {
                double before = k > 0 ? angle[k - 1] : 0.0, behind = k < 4 ? angle[k + 1] : 0.0;
                double pull = 0.5 * (before - 2.0 * angle[k] + behind) - sin(angle[k]) - 0.1 * speed[k] * speed[k] * speed[k];
                speed[k] += 0.002 * pull;
            }
            for (int k = 0; k < 5; k++)
                angle[k] += 0.002 * speed[k];
        }
        for (int k = 0; k < 5; k++)
            sum += angle[k] * angle[k];
        y[i] = (float)sum;
    }
}

// kernel: lattice
// args: rows=2 columns=3 omega=1.2 after[9][6]=0
// args: before[9][6]=0.44,0.45,0.46,0.43,0.42,0.44,0.11,0.12,0.1,0.11,0.12,0.1,0.1,0.11,0.12,0.1,0.1,0.11,0.12,0.11,0.1,0.1,0.12,0.1,0.11,0.1,0.12,0.11,0.1,0.12,0.02,0.03,0.025,0.03,0.02,0.025,0.03,0.02,0.025,0.03,0.02,0.03,0.02,0.03,0.025,0.03,0.03,0.02,0.025,0.03,0.02,0.025,0.03,0.025
/* A step of the lattice Boltzmann method, D2Q9 with one relaxation time, on a periodic grid: populations are pulled from
 * the neighbours that they come from, and relax towards equilibrium. */
void
lattice(int rows, int columns, float omega, const float before[9][rows * columns], float after[9][rows * columns])
{
    #pragma omp parallel for
    for (int i = 0; i < rows * columns; i++) {
        int row = i / columns, column = i % columns;
        int up = (row + 1 < rows ? row + 1 : 0) * columns, down = (row > 0 ? row - 1 : rows - 1) * columns;
        int right = column + 1 < columns ? column + 1 : 0, left = column > 0 ? column - 1 : columns - 1;
        int here = row * columns;
        float f0 = before[0][i], f1 = before[1][here + left], f2 = before[2][down + column];
        float f3 = before[3][here + right], f4 = before[4][up + column], f5 = before[5][down + left];
        float f6 = before[6][down + right], f7 = before[7][up + right], f8 = before[8][up + left];
        float density = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8, inverse = 1.0f / density;
        float ux = (f1 + f5 + f8 - f3 - f6 - f7) * inverse, uy = (f2 + f5 + f6 - f4 - f7 - f8) * inverse;
        float rest = 1.0f - 1.5f * (ux * ux + uy * uy), sum = ux + uy, difference = ux - uy;
        float axis = omega * density / 9.0f, corner = omega * density / 36.0f, keep = 1.0f - omega;
        after[0][i] = keep * f0 + 4.0f * axis * rest;
        after[1][i] = keep * f1 + axis * (rest + 3.0f * ux + 4.5f * ux * ux);
        after[2][i] = keep * f2 + axis * (rest + 3.0f * uy + 4.5f * uy * uy);
        after[3][i] = keep * f3 + axis * (rest - 3.0f * ux + 4.5f * ux * ux);
        after[4][i] = keep * f4 + axis * (rest - 3.0f * uy + 4.5f * uy * uy);
        after[5][i] = keep * f5 + corner * (rest + 3.0f * sum + 4.5f * sum * sum);
        after[6][i] = keep * f6 + corner * (rest - 3.0f * difference + 4.5f * difference * difference);
        after[7][i] = keep * f7 + corner * (rest - 3.0f * sum + 4.5f * sum * sum);
        after[8][i] = keep * f8 + corner * (rest + 3.0f * difference + 4.5f * difference * difference);
    }
}

// kernel: cloth
// args: rows=2 columns=3 spheres=2 sphere[2][4]=0.2,0.3,-0.2,0.5,1.1,0.5,0.3,0.4
// args: x[3][6]=0.1,1.05,2,0,1.1,1.9,0.05,0.1,0,1.02,0.95,1.1,0.3,0.25,0.35,0.2,0.3,0.4
// args: v[3][6]=0.1,-0.2,0.3,0.2,0.1,-0.1,0.2,0.1,0.05,0.1,-0.2,0.2,-1,-0.8,-0.9,-1.1,-1,-0.7
// args: x_next[3][6]=0 v_next[3][6]=0
/* A step of a cloth of masses and springs, symplectic Euler. Masses are then pushed out of the sphere that they are
 * deepest in, and bounce off it, until they are in none. */
void
cloth(int rows, int columns, int spheres, const float sphere[spheres][4], const float x[3][rows * columns],
      const float v[3][rows * columns], float x_next[3][rows * columns], float v_next[3][rows * columns])
{
    #pragma omp parallel for
    for (int i = 0; i < rows * columns; i++) {
        int row = i / columns, column = i % columns;
        float px = x[0][i], py = x[1][i], pz = x[2][i], fx = 0.0f, fy = 0.0f, fz = -1.0f;
        for (int k = 0; k < 4; k++) {
            int r = row + (k == 0) - (k == 1), c = column + (k == 2) - (k == 3);
            if (r >= 0 && r < rows && c >= 0 && c < columns) {
                int j = r * columns + c;
                float dx = x[0][j] - px, dy = x[1][j] - py, dz = x[2][j] - pz;
                float pull = 50.0f * (1.0f - 1.0f / sqrtf(dx * dx + dy * dy + dz * dz));
                fx += pull * dx;
                fy += pull * dy;
                fz += pull * dz;
            }
        }
        float vx = v[0][i] + 0.01f * fx, vy = v[1][i] + 0.01f * fy, vz = v[2][i] + 0.01f * fz;
        px += 0.01f * vx;
        py += 0.01f * vy;
        pz += 0.01f * vz;
        for (int bounce = 0; bounce < 16; bounce++) {
            float deepest = 1e-3f;
            int hit = -1;
            for (int s = 0; s < spheres; s++) {
                float dx = px - sphere[s][0], dy = py - sphere[s][1], dz = pz - sphere[s][2];
                float depth = sphere[s][3] - sqrtf(dx * dx + dy * dy + dz * dz);
                if (depth > deepest) {
                    deepest = depth;
                    hit = s;
                }
            }
            if (hit < 0)
                break;
            float dx = px - sphere[hit][0], dy = py - sphere[hit][1], dz = pz - sphere[hit][2];
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz);
            float nx = dx * inverse, ny = dy * inverse, nz = dz * inverse;
            px = sphere[hit][0] + sphere[hit][3] * nx;
            py = sphere[hit][1] + sphere[hit][3] * ny;
            pz = sphere[hit][2] + sphere[hit][3] * nz;
            float along = vx * nx + vy * ny + vz * nz;
            if (along < 0.0f) {
                vx -= 1.5f * along * nx;
                vy -= 1.5f * along * ny;
                vz -= 1.5f * along * nz;
            }
        }
        x_next[0][i] = px;
        x_next[1][i] = py;
        x_next[2][i] = pz;
        v_next[0][i] = vx;
        v_next[1][i] = vy;
        v_next[2][i] = vz;
    }
}

// kernel: messages
// args: nodes=3 edges=6 cap=1.2 start[4]=0,2,2,6 from[6]=0,2,1,2,0,1 weight[6]=0.5,0.25,0.75,0.5,0.9,0.3
// args: x[3]=0.7,1.1,1.3 y[3]=0
/* Nodes of a sparse graph take messages until they have enough. */
void
messages(int nodes, int edges, float cap, const int start[nodes + 1], const int from[edges],
         const float weight[edges], const float x[nodes], float y[nodes])
{
    #pragma omp parallel for
    for (int i = 0; i < nodes; i++) {
        float s = 0.0f;
        for (int j = start[i]; j < start[i + 1]; j++) {
            s += weight[j] * x[from[j]];
            if (s > cap)
                break;
        }
        y[i] = s * s;
    }
}

// kernel: trace
// args: n=2 direction[3][2]=0.1,0.02,0.05,-0.06,0.99,0.99 depth[2]=0
// args: sphere[4][4]=0.2,0.1,3.5,0.5,-0.5,0.3,3.2,0.4,0.6,-0.2,3.9,0.6,-0.1,-0.4,4.1,0.3
/* Rays marched through a smooth union of four spheres (x, y, z, radius), until they hit or leave. */
void
trace(int n, const float direction[3][n], const float sphere[4][4], float depth[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float t = 0.0f;
        for (int step = 0; step < 128; step++) {
            float sum = 0.0f;
            for (int s = 0; s < 4; s++) {
                float dx = t * direction[0][i] - sphere[s][0];
                float dy = t * direction[1][i] - sphere[s][1];
                float dz = t * direction[2][i] - sphere[s][2];
                sum += expf(-4.0f * (sqrtf(dx * dx + dy * dy + dz * dz) - sphere[s][3]));
            }
            float distance = -0.25f * logf(sum);
            if (distance < 1e-3f)
                break;
            t += distance;
            if (t > 8.0f)
                break;
        }
        depth[i] = t;
    }
}

// kernel: lstm
// args: n=2 length=4 x[4][2]=0.5,-0.6,-0.3,0.2,0.8,0.9,0.1,-0.4 y[2]=0
// args: w[12]=0.5,0.3,0.1,-0.2,0.7,0.4,0.9,-0.1,0.2,0.6,0.8,-0.3
/* A chain of LSTM cells over each of n sequences: gates f, i, o and candidate c, each with a weight for the input, one
 * for the hidden value, and a bias, shared by all sequences. */
void
lstm(int n, int length, const float x[length][n], const float w[12], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float hidden = 0.0f, cell = 0.0f;
        for (int t = 0; t < length; t++) {
            float in = x[t][i];
            float f = 1.0f / (1.0f + expf(-(w[0] * in + w[1] * hidden + w[2])));
            float g = 1.0f / (1.0f + expf(-(w[3] * in + w[4] * hidden + w[5])));
            float o = 1.0f / (1.0f + expf(-(w[6] * in + w[7] * hidden + w[8])));
            float c = tanhf(w[9] * in + w[10] * hidden + w[11]);
            cell = f * cell + g * c;
            hidden = o * tanhf(cell);
        }
        y[i] = hidden;
    }
}

// kernel: mixture
// args: n=2 x[4][2]=0.5,-0.7,1,0.2,1.1,-0.4,0.3,-0.1 y[2]=0 weight[8]=0.3,-0.2,0.1,0,-0.1,0.2,0.4,-0.3
// args: mean[8][4]=0.1,0.4,-0.5,0.8,0.3,-0.2,0.6,-0.9,0.2,0.7,-0.1,0.5,-0.4,0.3,0.9,-0.6,0.8,-0.3,0.1,0.2,0.4,0.6,-0.7,0.1,-0.2,0.5,0.3,-0.8,0.7,0.1,-0.6,0.4
// args: factor[8][10]=1,0.2,1.1,-0.1,0.3,0.9,0.2,-0.2,0.1,1,1.2,0.1,0.9,0.3,-0.3,1,0.1,0.2,-0.1,1.1,0.8,0.3,1,0.1,-0.2,1.2,-0.3,0.1,0.2,0.9,1,-0.1,1.1,0.2,0.1,0.8,0.3,-0.2,0.2,1,1.1,0.2,0.9,-0.3,0.2,1,0.1,0.1,-0.2,1.2,0.9,0.1,1,0.2,-0.1,1.1,0.3,0.2,-0.3,0.8,1,0.3,1.2,-0.2,0.1,0.9,-0.1,0.2,0.3,1,1.1,-0.3,1,0.1,0.2,0.8,0.2,-0.1,0.1,1.1
/* Log densities of points under a mixture of eight Gaussians in four dimensions, each with the triangular factor of its
 * inverse covariance, by rows, and the logarithm of its weight. */
void
mixture(int n, const float x[4][n], const float weight[8], const float mean[8][4], const float factor[8][10], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float term[8], top = -1e30f, sum = 0.0f;
        for (int c = 0; c < 8; c++) {
            float square = 0.0f;
            for (int row = 0; row < 4; row++) {
                float z = 0.0f;
                for (int j = 0; j <= row; j++)
                    z += factor[c][row * (row + 1) / 2 + j] * (x[j][i] - mean[c][j]);
                square += z * z;
            }
            term[c] = weight[c] - 0.5f * square;
            top = fmaxf(top, term[c]);
        }
        for (int c = 0; c < 8; c++)
            sum += expf(term[c] - top);
        y[i] = top + logf(sum);
    }
}
