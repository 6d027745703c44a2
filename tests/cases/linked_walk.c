// A walk along indices in an array until it meets -1; products along the way.
// args: n=5 next[5]=2,-1,4,0,1 x[5]=0.5,1.5,-0.4,0.3,0.7 y[5]=0
void
linked_walk(int n, const int next[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double p = 1.0;
        for (int at = i; at >= 0; at = next[at])
            p = p * x[at] + 0.1;
        y[i] = p;
    }
}
