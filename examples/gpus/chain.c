// Particles on a string, in the plane, that also feel their second neighbours: a GPU's own are rows 2 to n + 1 of u, rows 0, 1,
// n + 2 and n + 3 belong to the GPUs beside it. A row is x, y and the speed of both.

// The force of a spring of that rest length between two particles, on the first.
static inline void
pull(const double a[4], const double b[4], double rest, double k, double *fx, double *fy)
{
    double dx = b[0] - a[0], dy = b[1] - a[1], r2 = dx * dx + dy * dy;
    double f = k * (1.0 - rest * rest / (r2 + 1e-12));
    *fx += f * dx;
    *fy += f * dy;
}

// One step. `first` is the number of the GPU's first particle of `all`; k[i] is how stiff the springs of particle i are.
void
step(int n, int first, int all, double dt, const double k[n], const double u[n + 4][4], double next[n + 4][4])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double fx = 0.0, fy = -0.1;
        for (int d = 1; d <= 2; d++) {
            if (first + i - d >= 0)
                pull(u[i + 2], u[i + 2 - d], d, k[i] / d, &fx, &fy);
            if (first + i + d < all)
                pull(u[i + 2], u[i + 2 + d], d, k[i] / d, &fx, &fy);
        }
        double vx = 0.999 * u[i + 2][2] + dt * fx, vy = 0.999 * u[i + 2][3] + dt * fy;
        if (first + i == 0 || first + i == all - 1)
            vx = vy = 0.0;
        next[i + 2][0] = u[i + 2][0] + dt * vx;
        next[i + 2][1] = u[i + 2][1] + dt * vy;
        next[i + 2][2] = vx;
        next[i + 2][3] = vy;
    }
}

// The outermost particles, for the GPUs beside this one.
void
edges(int n, const double u[n + 4][4], double left[2][4], double right[2][4])
{
    #pragma omp parallel for
    for (int j = 0; j < 4; j++)
        for (int r = 0; r < 2; r++) {
            left[r][j] = u[2 + r][j];
            right[r][j] = u[n + r][j];
        }
}

// The neighbours' outermost particles beside this GPU's own.
void
halo(int n, const double left[2][4], const double right[2][4], double u[n + 4][4])
{
    #pragma omp parallel for
    for (int j = 0; j < 4; j++)
        for (int r = 0; r < 2; r++) {
            u[r][j] = left[r][j];
            u[n + 2 + r][j] = right[r][j];
        }
}

// Half the squared distance to where the particles should be.
void
misfit(int n, const double u[n + 4][4], const double goal[n][2], double loss[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double dx = u[i + 2][0] - goal[i][0], dy = u[i + 2][1] - goal[i][1];
        #pragma omp atomic
        loss[0] += 0.5 * (dx * dx + dy * dy);
    }
}
