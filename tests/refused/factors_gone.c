// A reverse behind its forward launch would need the product of factors that is gone by then.
// refused: vjp E0512
void
factors_gone(int n, const double x[n], double p[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        p[0] *= x[i];
    }
}
