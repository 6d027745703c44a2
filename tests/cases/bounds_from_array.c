// A CSR matrix product: loop bounds from an array; an empty row.
// args: rows=3 nnz=5 start[4]=0,2,2,5 col[5]=0,2,1,2,0 val[5]=0.5,1.5,-0.4,0.3,0.7 x[3]=1,2,3 y[3]=0
// seed: y=1,1,10
// expect: y=5,0,0.8
// grad: val=1,3,20,30,10 x=7.5,-4,4.5
void
bounds_from_array(int rows, int nnz, const int start[rows + 1], const int col[nnz], const double val[nnz],
                  const double x[3], double y[rows])
{
    #pragma omp parallel for
    for (int i = 0; i < rows; i++) {
        double s = 0.0;
        for (int j = start[i]; j < start[i + 1]; j++)
            s += val[j] * x[col[j]];
        y[i] = s;
    }
}
