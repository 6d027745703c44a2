// Every expression operator once.
// args: a=13 b=5 x=2.5 out[24]=0
void
operators(int a, int b, double x, double out[24])
{
    int t;
    out[0] = a + b;
    out[1] = a - b;
    out[2] = a * b;
    out[3] = a / b;
    out[4] = a % b;
    out[5] = a & b;
    out[6] = a | b;
    out[7] = a ^ b;
    out[8] = a << b;
    out[9] = a >> 1;
    out[10] = ~a;
    out[11] = -x;
    out[12] = !a;
    out[13] = a < b;
    out[14] = a >= b;
    out[15] = a == b;
    out[16] = a != b;
    out[17] = a && !b;
    out[18] = a || b;
    out[19] = a > b ? x : b;
    out[20] = (t = a, t + 1);
    out[21] = sizeof(double) + sizeof x + sizeof(int[3]);
    out[22] = (t = b = 3) + t * b;
    out[23] = a ?: b;
}
