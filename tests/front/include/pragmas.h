#define PRAGMA(x) _Pragma(#x)
