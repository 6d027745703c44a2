// Additions to neighbours of rows that are shorter than a vector, as long as one, or longer: on both sides, some where a condition holds.
// args: rows=7 ends[7]=0,3,4,18,19,37,54 x[56]=0.5,1.5,-0.4,0.3,0.7,1.1,-0.2 w[5]=0.3,-0.2,0.7,0.1,0.4 y[56]=0
void
window_lengths(int rows, const int ends[rows], const float x[56], const float w[5], float y[56])
{
    for (int r = 0; r < rows; r++) {
        #pragma omp parallel for
        for (int i = 2; i < ends[r]; i++) {
            float s = w[0] * x[i - 2] * x[i] + w[1] * x[i - 1] + w[2] * x[i + 1];
            if (x[i] > 0.0f)
                s += w[3] * x[i + 2] * x[i - 1] - w[4] * x[i];
            y[i] += s;
        }
    }
}
