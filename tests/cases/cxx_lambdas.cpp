// Lambdas: captured variables are those outside, or copies from where the lambda stands; arguments of templates; loops that they change.
// args: n=5 x[5]=0.5,1.5,-0.4,0.3,0.9 y[5]=1,0.5,0.25,2,-1
// split: any
// skip: bits
template <class F> static double
integral(F f, double a, double b, int steps)
{
    double h = (b - a) / steps, sum = 0;
    for (int i = 0; i < steps; i++)
        sum += f(a + (i + 0.5) * h);
    return sum * h;
}

template <class F> static void
times(int n, const F &f)
{
    for (int i = 0; i < n; i++)
        f(i);
}

template <class F, class G> static auto
composed(F f, G g, double x)
{
    return f(g(x));
}

extern "C" void
cxx_lambdas(int n, const double x[], double y[])
{
    double k = 0.5, sum = 0;
    int m = n;
    auto scaled = [&](double v) { return v * k + sum; };
    auto shrink = [&](int by) { m -= by; };
    for (int i = 0; i < m; i++) {
        y[i] += x[i];
        shrink(i & 1);
    }
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        auto add = [&](double v) { sum += v * k; };
        add(x[i]);
        add(y[i]);
    }
    k = 0.25;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double t[3] = {1, x[i], 0.25}, own = x[i], total = 0;
        int calls = 0;
        auto square = [](double v) { return v * v; };
        auto line = [=](double v) { return own * v + 1; };
        auto counted = [calls, &t](double v) mutable { return ++calls * v * t[2]; };
        own *= 2;
        t[2] += own;
        total += integral(line, 0, 1, 3) + integral([&](double v) { return square(v) * t[2] + x[i]; }, x[i], 2, 4);
        times(3, [&](int j) {
            total += scaled(j * own);
            if (total > 2)
                return;
            total *= 1.125;
        });
        total += counted(1) + counted(own) + calls + composed(square, line, total);
        y[i] += total + m;
    }
}
