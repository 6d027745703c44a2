// A for without an init or a step whose condition holds a semicolon, or a quote, as a character.
// args: n=6 t[6]=65,66,59,67,34,0 x[6]=0.5,-1.2,2.0,0.3,0.7,1.1 y[1]=0
void
for_semicolon(int n, const signed char t[n], const double x[n], double y[1])
{
    double s = 0;
    int k = 0;
    for (; t[k] != ';';) {
        s += x[k] * x[k];
        k++;
    }
    for (; k < n && t[k] != '"'; k++)
        s *= 1 + x[k];
    y[0] = s;
}
