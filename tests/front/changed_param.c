// A parameter is a variable: it can be changed.
// args: n=4 v=2 x[4]=1,2,3,4
float
changed_param(int n, float v, float x[n])
{
    while (n-- > 0) {
        v *= 1.5f;
        x[n] += v;
    }
    return v;
}
