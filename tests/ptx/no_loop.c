/* A kernel without a parallel loop ends its launch, too. SPDX-License-Identifier: Apache-2.0 */
void
no_loop(const double x[1], double y[1])
{
    y[0] = x[0] * x[0];
}
