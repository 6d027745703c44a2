/* lstm: the loss of a character predictor. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

static double
sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

// args: layers=2 bits=2 length=4 main[4][8]=0.5,-0.3,0.8,0.1,-0.6,0.2,0.9,-0.4,0.35,0.7 extra[3][2]=0.5,0.9,0.8,1.1,0.1,-0.2
// args: state[4][2]=0.1,0.2,-0.3,0.4,0.25,-0.15,0.05,0.3 sequence[4][2]=1,0,0,1,1,0,0,1 now[4][2]=0 loss[1]=0
// split: refused
/* Row 2 i of state is the hidden value of layer i to begin with, row 2 i + 1 its cell; now is work
 * space, what they are as time goes on. */
void
lstm(int layers, int bits, int length, const double main[2 * layers][4 * bits],
     const double extra[3][bits], const double state[2 * layers][bits], const double sequence[length][bits],
     double now[2 * layers][bits], double loss[1])
{
    double total = 0.0;
    for (int i = 0; i < 2 * layers; i++)
        for (int j = 0; j < bits; j++)
            now[i][j] = state[i][j];
    for (int t = 0; t + 1 < length; t++) {
        double sum = 2.0, dot = 0.0, ones = 0.0;
        for (int j = 0; j < bits; j++) {
            double y = sequence[t][j] * extra[0][j];
            for (int i = 0; i < layers; i++) {
                double h = now[2 * i][j];
                double f = sigmoid(y * main[2 * i][j] + main[2 * i + 1][j]);
                double g = sigmoid(h * main[2 * i][bits + j] + main[2 * i + 1][bits + j]);
                double o = sigmoid(y * main[2 * i][2 * bits + j] + main[2 * i + 1][2 * bits + j]);
                double c = tanh(h * main[2 * i][3 * bits + j] + main[2 * i + 1][3 * bits + j]);
                double cell = now[2 * i + 1][j] * f + g * c;
                y = o * tanh(cell);
                now[2 * i + 1][j] = cell;
                now[2 * i][j] = y;
            }
            double predicted = y * extra[1][j] + extra[2][j];
            sum += exp(predicted);
            dot += sequence[t + 1][j] * predicted;
            ones += sequence[t + 1][j];
        }
        total += dot - ones * log(sum);
    }
    loss[0] = -total / ((length - 1) * bits);
}
