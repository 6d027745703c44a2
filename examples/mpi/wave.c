// A rank's rows of a wave field: rows 1 to `rows` are its own, rows 0 and rows + 1 are its neighbours'.

// One step of u'' = c^2 lap u by leapfrog, c in cells per step; 0 beside the field.
void
step(int rows, int cols, const double c[rows][cols], const double before[rows + 2][cols], const double now[rows + 2][cols],
     double next[rows + 2][cols])
{
    #pragma omp parallel for collapse(2)
    for (int i = 1; i <= rows; i++)
        for (int j = 0; j < cols; j++) {
            double left = j > 0 ? now[i][j - 1] : 0.0, right = j < cols - 1 ? now[i][j + 1] : 0.0;
            double lap = left + right + now[i - 1][j] + now[i + 1][j] - 4.0 * now[i][j];
            next[i][j] = 2.0 * now[i][j] - before[i][j] + c[i - 1][j] * c[i - 1][j] * lap;
        }
}

// The rank's outermost rows, for its neighbours.
void
edges(int rows, int cols, const double u[rows + 2][cols], double out[2][cols])
{
    #pragma omp parallel for
    for (int j = 0; j < cols; j++) {
        out[0][j] = u[1][j];
        out[1][j] = u[rows][j];
    }
}

// The neighbours' outermost rows beside the rank's own.
void
halo(int rows, int cols, const double in[2][cols], double u[rows + 2][cols])
{
    #pragma omp parallel for
    for (int j = 0; j < cols; j++) {
        u[0][j] = in[0][j];
        u[rows + 1][j] = in[1][j];
    }
}

// What receivers hear.
void
hear(int n, int rows, int cols, const int row[n], const int col[n], const double u[rows + 2][cols], double heard[n])
{
    for (int k = 0; k < n; k++)
        heard[k] = u[row[k]][col[k]];
}

// Half the squared difference to what was heard in truth.
void
misfit(int n, int rows, int cols, const int row[n], const int col[n], const double u[rows + 2][cols], const double truth[n],
       double loss[1])
{
    for (int k = 0; k < n; k++) {
        double d = u[row[k]][col[k]] - truth[k];
        loss[0] += 0.5 * d * d;
    }
}
