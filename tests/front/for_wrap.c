// Counters that wrap or are narrow.
// args: out[4]=0
void
for_wrap(int out[4])
{
    for (unsigned char c = 250; c != 3; c++)
        out[0] += c;
    for (unsigned u = 3; u < 4; u--)
        out[1]++;
    for (short s = 32760; s > 0; s++)
        out[2]++;
    for (int i = 2147483640; i > 0; i++)
        out[3]++;
}
