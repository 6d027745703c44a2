/* The object that `rgc grad` of the wheel made, linked with the wheel's runtime. */
#include "relax_grad.h"

#include <math.h>

int
main(void)
{
    int32_t steps[4] = {1, 1, 1, 1};
    float x[4] = {0.1f, 0.2f, 0.3f, 0.4f}, slope[4] = {0}, loss = 0, one = 1;
    if (relax_forward_vjp(4, steps, x, slope, &loss, &one))
        return 1;
    for (int i = 0; i < 4; i++) {
        loss -= sinf(x[i]) + 0.1f;
        if (fabsf(slope[i] - cosf(x[i])) > 1e-6f)
            return 2;
    }
    return fabsf(loss) > 1e-5f ? 3 : 0;
}
