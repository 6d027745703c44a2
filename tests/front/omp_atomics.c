// args: n=6 k[6]=0,1,2,0,1,0 x[6]=1,2,3,4,5,6 sum[3]=10,20,30 bits[3]=0,255,255 most[1]=2 least[1]=5 count[1]=0 slot[6]=0
void
omp_atomics(int n, const int k[n], const double x[n], double sum[3], unsigned bits[3], double most[1],
            double least[1], int count[1], int slot[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int mine;
        #pragma omp atomic
        sum[k[i]] += x[i];
        #pragma omp atomic update
        sum[0] = sum[0] - 0.5;
        #pragma omp atomic
        sum[1] = 0.25 + sum[1];
        #pragma omp atomic
        bits[0] |= 1u << i;
        #pragma omp atomic
        bits[1] &= ~(1u << i);
        #pragma omp atomic
        bits[2] ^= i;
        #pragma omp atomic compare
        if (most[0] < x[i]) { most[0] = x[i]; }
        #pragma omp atomic compare
        if (x[i] < least[0]) { least[0] = x[i]; }
        #pragma omp atomic capture
        mine = count[0]++;
        #pragma omp atomic capture
        {
            count[0] += 2;
            mine = count[0];
        }
        #pragma omp atomic capture
        { mine = count[0]; count[0] -= 2; }
        slot[i] = mine > 0;
    }
}
