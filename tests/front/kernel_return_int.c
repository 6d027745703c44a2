// args: n=40000
short
kernel_return_int(int n)
{
    return n;
}
