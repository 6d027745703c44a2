int lookup(int);
void
err_extent(int n, const int k[2], float x[k[0]], // error: E0442
           float y[n > 3 ? n : 3]) // error: E0442
{
    x[0] = y[0];
}
