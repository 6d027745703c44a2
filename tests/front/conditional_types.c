// args: n=3 x[3]=1,2,3 y[3]=0
struct two { double a, b; };
void
conditional_types(int n, const float x[n], double y[n])
{
    struct two p = {1, 2}, q = {3, 4};
    for (int i = 0; i < n; i++) {
        struct two r = i & 1 ? p : q;
        y[i] = (i ? x[i] : 1.5) + (i > 1 ? r : q).b + (i ? 1u : -1);
        i == 2 ? (y[i] += 5) : (y[i] -= 5);
    }
}
