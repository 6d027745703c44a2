/* hello: a square. SPDX-License-Identifier: Apache-2.0 */

// args: x[1]=3 y[1]=0
// seed: y=1
// expect: y=9
// grad: x=6
void
hello(const double x[1], double y[1])
{
    y[0] = x[0] * x[0];
}
