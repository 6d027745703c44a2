/* A step of a wave equation, for several waves at once on some rows of a grid. Plain C: gcc -fopenmp compiles it too.
 * SPDX-License-Identifier: Apache-2.0 */

/* The state after the next step replaces the one before the last. speed: cells in a step. calm: how much of a wave the cell takes
 * away, so that none comes back from the edges. above, below: the rows of the neighbours. */
void
step(int waves, int rows, int n, const float speed[rows][n], const float calm[rows][n], const float above[waves][n],
     const float below[waves][n], const float now[waves][rows][n], float before[waves][rows][n])
{
    #pragma omp parallel for
    for (int w = 0; w < waves; w++)
        for (int i = 0; i < rows; i++)
            for (int j = 1; j < n - 1; j++) {
                float up = i > 0 ? now[w][i - 1][j] : above[w][j], down = i < rows - 1 ? now[w][i + 1][j] : below[w][j];
                float bend = up + down + now[w][i][j - 1] + now[w][i][j + 1] - 4 * now[w][i][j];
                float after = 2 * now[w][i][j] - (1 - calm[i][j]) * before[w][i][j] + speed[i][j] * speed[i][j] * bend;
                before[w][i][j] = after / (1 + calm[i][j]);
            }
}
