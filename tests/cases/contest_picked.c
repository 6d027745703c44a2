// An atomic min of an array that a later loop overwrites through a pointer that was chosen, which a split launch refuses.
// args: n=43 flag=1 x[43]=-0.347,-1.227,0.023,1.333,-1.757,-1.627,0.743,-1.517,-0.127,0.983,-1.707,0.593,-0.907,-1.807,-1.557,0.223,0.143,-1.647,-0.767,-1.537,0.823,0.173,-1.697,0.893,-1.367,-0.857,1.223,1.213,-1.687,0.953,0.993,0.033,-1.747,-0.867,-1.767,0.853,-1.317,-0.517,-1.267,0.763,-1.397,0.923,-0.427 a[43]=5.863,3.923,3.523,5.973,5.923,3.963,4.903,3.493,5.803,3.323,5.883,3.303,4.053,5.543,5.723,5.183,4.603,5.383,5.993,5.323,4.853,4.533,4.273,4.243,3.413,5.943,5.683,5.533,4.753,5.293,4.473,3.373,3.603,5.623,5.143,3.843,3.773,5.503,5.153,3.203,3.393,5.853,5.933 b[43]=1
// split: refused
void
contest_picked(int n, int flag, const double x[n], double a[n], double b[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic compare
        if (x[i] < a[0]) { a[0] = x[i]; }
    }
    double *p = b;
    if (flag) p = a;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        p[i] += 7;
}
