// Quotients that are the same in all threads, out of the common range, in a loop that threads leave at different times: those that have
// left must find the same as the others, since all take the branch together.
// args: n=40 x[40]=2,0.3,1.7,0.05,3.1,0.9,0.02,1.2 s[2]=1.5,0.25 sum[1]=0.5 y[40]=0
// skip: bits
void
quotient_of_all(int n, const float x[n], const float s[2], float sum[1], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i], scale = 3e-39f;
        while (v > 0.1f) {
            float q = s[0] / (scale * 1e38f), p = s[1] / scale, r = v / s[0];
            if (p > 1e37f * q) {
                #pragma omp atomic
                sum[0] += r * q;
            }
            scale *= 7;
            v = v * 0.5f - 0.01f * r;
        }
        y[i] = v * v;
    }
}
