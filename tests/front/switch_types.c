// args: a=3 c=200 out[3]=0
enum color { RED, GREEN = 200 };
void
switch_types(unsigned long a, unsigned char c, int out[3])
{
    switch (a) {
    case 3u:
        out[0] = 1;
    }
    switch (c) {
    case GREEN:
        out[1] = 2;
        break;
    case RED:
        out[1] = 3;
    }
    switch ((char)c)
    case -56:
        out[2] = 4;
}
