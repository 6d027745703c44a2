// count forward_vjp tape tape_over 0
// count forward_vjp tape tape_room 0
// count forward_vjp tape tape_begin 1
// frames forward_vjp: f64
/* Loops of known length: what a thread records is known to fit a page, and no frame is ever dropped. */
void
triangle(int n, double x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int r = 0; r < 20; r++)
            for (int k = 0; k < r; k++)
                v = v * v * 0.3 + 1.0;
        x[i] = v;
    }
}
