// args: n=2 r[2][3]=1,2,3,4,5,6
typedef double triple[3];
void
typedef_rows(int n, triple r[n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++)
            r[i][j] += 10 * i + j;
}
