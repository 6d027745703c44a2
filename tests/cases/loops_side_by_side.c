// Two loops behind each other inside a loop, statements around them, a sum of the outermost variable.
// args: x[1]=0.5 y[1]=0
// seed: y=1
// grad: x=18
// expect: y=8
void
loops_side_by_side(const double x[1], double y[1])
{
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 3; i++)
            y[0] += x[0];
        y[0] += x[0] * x[0] * 2.0;
        for (int i = 0; i < 3; i++)
            y[0] += x[0];
        y[0] += x[0];
    }
}
