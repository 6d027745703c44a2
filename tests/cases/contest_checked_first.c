// An update that is only made where a look at the element says that it may win: what was seen is kept.
// args: n=43 x[43]=0.973,-1.537,-1.277,1.823,0.683,-0.657,-0.157,-1.327,1.083,1.233,0.603,-0.567,-1.427,1.603,-0.137,-0.817,0.543,0.483,0.013,-1.877,-1.187,-1.987,0.513,1.483,0.303,0.073,-0.457,1.723,0.133,-0.237,-0.077,-0.387,-1.387,-0.307,-1.997,-0.337,1.843,-0.267,0.033,-0.997,1.653,-1.937,1.783 a[2]=5,-7
// split: refused
// skip: bits
void
contest_checked_first(int n, const double x[n], double a[2])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double seen;
        #pragma omp atomic read
        seen = a[0];
        if (x[i] <= seen) {
            #pragma omp atomic compare
            if (x[i] < a[0]) { a[0] = x[i]; }
        }
    }
}
