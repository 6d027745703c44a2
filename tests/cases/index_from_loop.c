// An index that a loop computes is used behind the loop, in a store and in loads; the loop's integers are gone by then.
// args: n=3 stride[2]=2,1 at[3][2]=0,1,1,0,2,1 x[6]=0.5,1.5,-0.4,0.3,0.7,0.9 y[6]=0
void
index_from_loop(int n, const int stride[2], const int at[n][2], const double x[6], double y[6])
{
    for (int i = 0; i < n; i++) {
        int index = 0;
        for (int k = 0; k < 2; k++)
            index += stride[k] * at[i][k];
        y[index] = x[index] * x[5 - index];
    }
}
