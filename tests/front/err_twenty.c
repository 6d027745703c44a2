// Twenty errors are shown.
void
err_twenty(int n, float x[n])
{
    volatile int a0; // error: E0417
    volatile int a1; // error: E0417
    volatile int a2; // error: E0417
    volatile int a3; // error: E0417
    volatile int a4; // error: E0417
    volatile int a5; // error: E0417
    volatile int a6; // error: E0417
    volatile int a7; // error: E0417
    volatile int a8; // error: E0417
    volatile int a9; // error: E0417
    volatile int b0; // error: E0417
    volatile int b1; // error: E0417
    volatile int b2; // error: E0417
    volatile int b3; // error: E0417
    volatile int b4; // error: E0417
    volatile int b5; // error: E0417
    volatile int b6; // error: E0417
    volatile int b7; // error: E0417
    volatile int b8; // error: E0417
    volatile int b9; // error: E0417
    volatile int c0;
    volatile int c1;
}
