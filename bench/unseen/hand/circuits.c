/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>
#include <stdbool.h>

enum { NODES = 6, MOST = 50 };

void circuits(int n, double saturation, double thermal, const double conductance[NODES][NODES],
              const double source[][NODES], double voltage[][NODES]);

void
make_circuits(bench_problem *p, double scale)
{
    int n = bench_count(6000 * scale);
    bench_int(p, "n", n);
    bench_real(p, "saturation", 0.1);
    bench_real(p, "thermal", 0.8);
    double *g = bench_array(p, "conductance", RG_F64, NODES, NODES, -0.6, 0.6)->initial;
    for (int i = 0; i < NODES; i++)
        g[i * NODES + i] += 2.0;
    bench_array(p, "source", RG_F64, n, NODES, -1.0, 2.0);
    bench_output(p, "voltage", RG_F64, n, NODES);
}

void
forward_circuits(void *const *data)
{
    circuits(INT(0), REAL(1), REAL(2), data[3], data[4], data[5]);
}

/* An iteration: factors of the Jacobian with the rows that were exchanged, the exponentials, the step. */
typedef struct iteration {
    double lu[NODES][NODES], bent[NODES], step[NODES];
    int pivot[NODES];
} iteration;

static bool
factor(double a[NODES][NODES], int pivots[NODES])
{
    for (int c = 0; c < NODES; c++) {
        int pivot = c;
        for (int r = c + 1; r < NODES; r++)
            if (fabs(a[r][c]) > fabs(a[pivot][c]))
                pivot = r;
        if (a[pivot][c] == 0.0)
            return false;
        pivots[c] = pivot;
        if (pivot != c)
            for (int k = 0; k < NODES; k++) {
                double t = a[c][k];
                a[c][k] = a[pivot][k];
                a[pivot][k] = t;
            }
        for (int r = c + 1; r < NODES; r++) {
            a[r][c] /= a[c][c];
            for (int k = c + 1; k < NODES; k++)
                a[r][k] -= a[r][c] * a[c][k];
        }
    }
    return true;
}

static void
solve(const double lu[NODES][NODES], const int pivots[NODES], double b[NODES])
{
    for (int c = 0; c < NODES; c++) {
        double t = b[c];
        b[c] = b[pivots[c]];
        b[pivots[c]] = t;
    }
    for (int c = 0; c < NODES; c++)
        for (int r = c + 1; r < NODES; r++)
            b[r] -= lu[r][c] * b[c];
    for (int r = NODES - 1; r >= 0; r--) {
        for (int k = r + 1; k < NODES; k++)
            b[r] -= lu[r][k] * b[k];
        b[r] /= lu[r][r];
    }
}

static void
solve_transposed(const double lu[NODES][NODES], const int pivots[NODES], double b[NODES])
{
    for (int r = 0; r < NODES; r++) {
        b[r] /= lu[r][r];
        for (int k = r + 1; k < NODES; k++)
            b[k] -= lu[r][k] * b[r];
    }
    for (int r = NODES - 1; r > 0; r--)
        for (int c = 0; c < r; c++)
            b[c] -= lu[r][c] * b[r];
    for (int c = NODES - 1; c >= 0; c--) {
        double t = b[c];
        b[c] = b[pivots[c]];
        b[pivots[c]] = t;
    }
}

/* A linear system's adjoint is a system with the transposed matrix: the elimination itself is not differentiated. */
void
hand_circuits(void *const *data, void *const *adjoint)
{
    int n = INT(0), most = 0;
    double saturation = REAL(1), thermal = REAL(2), saturation_a = 0.0, thermal_a = 0.0;
    const double(*conductance)[NODES] = data[3], (*source)[NODES] = data[4];
    double(*voltage)[NODES] = data[5], (*source_a)[NODES] = adjoint[4], (*voltage_a)[NODES] = adjoint[5];
    double conductance_a[NODES][NODES] = {0};
    iteration kept[MOST];
    for (int q = 0; q < n; q++) {
        double v[NODES] = {0}, change = 1.0;
        int count = 0;
        while (count < MOST && !(change < 1e-10)) {
            iteration *m = &kept[count];
            for (int i = 0; i < NODES; i++) {
                m->bent[i] = saturation * exp(v[i] / thermal);
                m->step[i] = m->bent[i] - saturation - source[q][i];
                for (int j = 0; j < NODES; j++) {
                    m->step[i] += conductance[i][j] * v[j];
                    m->lu[i][j] = conductance[i][j];
                }
                m->lu[i][i] += m->bent[i] / thermal;
            }
            if (!factor(m->lu, m->pivot))
                break;
            solve(m->lu, m->pivot, m->step);
            count++;
            change = 0.0;
            for (int i = 0; i < NODES; i++) {
                v[i] -= m->step[i];
                change = fmax(change, fabs(m->step[i]));
            }
        }
        most = count > most ? count : most;
        double v_a[NODES];
        for (int i = 0; i < NODES; i++) {
            voltage[q][i] = v[i];
            v_a[i] = voltage_a[q][i];
            voltage_a[q][i] = 0.0;
        }
        while (--count >= 0) {
            const iteration *m = &kept[count];
            double f_a[NODES], old[NODES];
            for (int i = 0; i < NODES; i++) {
                f_a[i] = -v_a[i];
                old[i] = v[i] + m->step[i];
            }
            solve_transposed(m->lu, m->pivot, f_a);
            for (int i = 0; i < NODES; i++) {
                double diagonal_a = -f_a[i] * m->step[i], bent_a = f_a[i] + diagonal_a / thermal;
                double exponent_a = bent_a * m->bent[i];
                source_a[q][i] -= f_a[i];
                saturation_a += bent_a * m->bent[i] / saturation - f_a[i];
                thermal_a -= (diagonal_a * m->bent[i] + exponent_a * old[i]) / (thermal * thermal);
                v_a[i] += exponent_a / thermal;
                /* of the conductance: in f with the old voltage, in the Jacobian with the step */
                for (int j = 0; j < NODES; j++)
                    conductance_a[i][j] += f_a[i] * v[j];
            }
            for (int i = 0; i < NODES; i++)
                for (int j = 0; j < NODES; j++)
                    v_a[j] += conductance[i][j] * f_a[i];
            for (int i = 0; i < NODES; i++)
                v[i] = old[i];
        }
    }
    double *total_a = adjoint[3];
    for (int i = 0; i < NODES * NODES; i++)
        total_a[i] += conductance_a[0][i];
    *(double *)adjoint[1] += saturation_a;
    *(double *)adjoint[2] += thermal_a;
    hand_kept = sizeof kept[0] * (size_t)most;
}
