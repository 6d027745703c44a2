// Both arms of `?:` read the same element; one divides by an element that is 0 where the arm is not taken.
// args: n=4 flag[4]=1,0,1,0 x[4]=2,3,-1,0.5 d[4]=4,0,2,0 y[4]=0
// seed: y=1
// expect: y=0.5,3,-0.5,0.5
// grad: x=0.25,1,0.5,1 d=-0.125,0,0.25,0
void
read_in_both_arms(int n, const int flag[n], const double x[n], const double d[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = flag[i] ? x[i] / d[i] : x[i];
}
