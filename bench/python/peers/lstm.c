/* An LSTM over a batch of sequences. The loss is the mean square of the difference of the last hidden state from a target. Gates are
 * input, forget, candidate and output. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

static float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

/* One unit of one sequence after one more step. */
static void unit(int t, int b, int j, int length, int batch, int inputs, int hidden, const float x[length][batch][inputs],
                 const float w[inputs][4][hidden], const float u[hidden][4][hidden], const float bias[4][hidden],
                 float h[length + 1][batch][hidden], float c[length + 1][batch][hidden])
{
    float gate[4];
    for (int g = 0; g < 4; g++)
        gate[g] = bias[g][j];
    for (int k = 0; k < inputs; k++)
        for (int g = 0; g < 4; g++)
            gate[g] += w[k][g][j] * x[t][b][k];
    for (int k = 0; k < hidden; k++)
        for (int g = 0; g < 4; g++)
            gate[g] += u[k][g][j] * h[t][b][k];
    c[t + 1][b][j] = sigmoid(gate[1]) * c[t][b][j] + sigmoid(gate[0]) * tanhf(gate[2]);
    h[t + 1][b][j] = sigmoid(gate[3]) * tanhf(c[t + 1][b][j]);
}

static float loss_of(int length, int batch, int hidden, const float h[length + 1][batch][hidden], const float target[batch][hidden])
{
    float sum = 0.0f;
    #pragma omp parallel for collapse(2) reduction(+:sum)
    for (int b = 0; b < batch; b++)
        for (int j = 0; j < hidden; j++) {
            float e = h[length][b][j] - target[b][j];
            sum += e * e / (batch * hidden);
        }
    return sum;
}

void lstm(int length, int batch, int inputs, int hidden, const float x[length][batch][inputs], const float w[inputs][4][hidden],
          const float u[hidden][4][hidden], const float bias[4][hidden], const float target[batch][hidden], float loss[1])
{
    float h[length + 1][batch][hidden], c[length + 1][batch][hidden];
    #pragma omp parallel for collapse(2)
    for (int b = 0; b < batch; b++)
        for (int j = 0; j < hidden; j++)
            h[0][b][j] = c[0][b][j] = 0.0f;
    for (int t = 0; t < length; t++) {
        #pragma omp parallel for collapse(2)
        for (int b = 0; b < batch; b++)
            for (int j = 0; j < hidden; j++)
                unit(t, b, j, length, batch, inputs, hidden, x, w, u, bias, h, c);
    }
    loss[0] += loss_of(length, batch, hidden, h, target);
}

/* The same with a thread for each unit of all sequences: no two threads share a weight, and there are fewer of them. */
void lstm_units(int length, int batch, int inputs, int hidden, const float x[length][batch][inputs], const float w[inputs][4][hidden],
                const float u[hidden][4][hidden], const float bias[4][hidden], const float target[batch][hidden], float loss[1])
{
    float h[length + 1][batch][hidden], c[length + 1][batch][hidden];
    #pragma omp parallel for collapse(2)
    for (int b = 0; b < batch; b++)
        for (int j = 0; j < hidden; j++)
            h[0][b][j] = c[0][b][j] = 0.0f;
    for (int t = 0; t < length; t++) {
        #pragma omp parallel for
        for (int j = 0; j < hidden; j++)
            for (int b = 0; b < batch; b++)
                unit(t, b, j, length, batch, inputs, hidden, x, w, u, bias, h, c);
    }
    loss[0] += loss_of(length, batch, hidden, h, target);
}
