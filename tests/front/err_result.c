struct two { float a, b; };
struct two
err_result(int n) // error: E0443
{
    return (struct two){n, n};
}
