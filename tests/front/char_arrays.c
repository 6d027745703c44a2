// args: n=5 s[5]=104,101,108,108,111 t[5]=0
void
char_arrays(int n, const char s[n], unsigned char t[n])
{
    for (int i = 0; i < n && s[i]; i++)
        t[i] = s[i] >= 'a' && s[i] <= 'z' ? s[i] - 'a' + 'A' : s[i];
}
