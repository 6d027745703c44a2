// args: n=9 limit[9]=3,20,20,20,0,20,20,7,20 x[9]=0.5,1.25,-2,25,1,3,-0.75,-0.5,0.125
// args: y[9]=0 z[9]=0 where[9]=0
/* Threads leave at four places: what they take along is the same at two of them, changed before the third. */
void
leave_alike(int n, const int limit[n], const float x[n], float y[n], float z[n], int where[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i], before = 0.0f;
        int step, why = 0;
        for (step = 0; step < 20; step++) {
            why = 1;
            if (step >= limit[i])
                break;
            float w = 1.5f * v + 0.125f * before;
            why = 2;
            if (w > 30.0f)
                break;
            before = v;
            v = w + 0.25f;
            why = 3;
            if (v > 20.0f && step % 2)
                break;
            why = 4;
            if (v < -5.0f)
                break;
            why = 0;
        }
        y[i] = v * v + before;
        z[i] = v * (float)step;
        where[i] = why;
    }
}
