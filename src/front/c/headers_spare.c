/* Headers for a machine where no C compiler says where the system's are: what programs around kernels use most. They
 * are searched last. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/parse.h"

static const char stdint_h[] =
    "#pragma once\n"
    "typedef __INT8_TYPE__ int8_t; typedef __UINT8_TYPE__ uint8_t;\n"
    "typedef __INT16_TYPE__ int16_t; typedef __UINT16_TYPE__ uint16_t;\n"
    "typedef __INT32_TYPE__ int32_t; typedef __UINT32_TYPE__ uint32_t;\n"
    "typedef __INT64_TYPE__ int64_t; typedef __UINT64_TYPE__ uint64_t;\n"
    "typedef int8_t int_least8_t; typedef uint8_t uint_least8_t;\n"
    "typedef int16_t int_least16_t; typedef uint16_t uint_least16_t;\n"
    "typedef int32_t int_least32_t; typedef uint32_t uint_least32_t;\n"
    "typedef int64_t int_least64_t; typedef uint64_t uint_least64_t;\n"
    "typedef int8_t int_fast8_t; typedef uint8_t uint_fast8_t;\n"
    "typedef int64_t int_fast16_t, int_fast32_t, int_fast64_t;\n"
    "typedef uint64_t uint_fast16_t, uint_fast32_t, uint_fast64_t;\n"
    "typedef __INTPTR_TYPE__ intptr_t; typedef __UINTPTR_TYPE__ uintptr_t;\n"
    "typedef __INTMAX_TYPE__ intmax_t; typedef __UINTMAX_TYPE__ uintmax_t;\n"
    "#define INT8_MIN (-128)\n#define INT8_MAX 127\n#define UINT8_MAX 255\n"
    "#define INT16_MIN (-32768)\n#define INT16_MAX 32767\n#define UINT16_MAX 65535\n"
    "#define INT32_MIN (-2147483647-1)\n#define INT32_MAX 2147483647\n#define UINT32_MAX 4294967295U\n"
    "#define INT64_C(x) x##L\n#define UINT64_C(x) x##UL\n"
    "#define INT64_MIN (-9223372036854775807L-1)\n#define INT64_MAX 9223372036854775807L\n"
    "#define UINT64_MAX 18446744073709551615UL\n#define SIZE_MAX UINT64_MAX\n"
    "#define INTPTR_MIN INT64_MIN\n#define INTPTR_MAX INT64_MAX\n#define UINTPTR_MAX UINT64_MAX\n"
    "#define PTRDIFF_MIN INT64_MIN\n#define PTRDIFF_MAX INT64_MAX\n"
    "#define INTMAX_MIN INT64_MIN\n#define INTMAX_MAX INT64_MAX\n#define UINTMAX_MAX UINT64_MAX\n"
    "#define INT8_C(x) x\n#define INT16_C(x) x\n#define INT32_C(x) x\n"
    "#define UINT8_C(x) x\n#define UINT16_C(x) x\n#define UINT32_C(x) x##U\n"
    "#define INTMAX_C(x) INT64_C(x)\n#define UINTMAX_C(x) UINT64_C(x)\n";

static const char inttypes_h[] =
    "#pragma once\n#include <stdint.h>\n"
    "#define PRId8 \"d\"\n#define PRIi8 \"i\"\n#define PRIu8 \"u\"\n#define PRIx8 \"x\"\n"
    "#define PRId16 \"d\"\n#define PRIi16 \"i\"\n#define PRIu16 \"u\"\n#define PRIx16 \"x\"\n"
    "#define PRId32 \"d\"\n#define PRIi32 \"i\"\n#define PRIu32 \"u\"\n#define PRIx32 \"x\"\n#define PRIX32 \"X\"\n"
    "#define PRId64 \"ld\"\n#define PRIi64 \"li\"\n#define PRIu64 \"lu\"\n#define PRIx64 \"lx\"\n"
    "#define PRIX64 \"lX\"\n"
    "#define PRIdMAX \"ld\"\n#define PRIuMAX \"lu\"\n#define PRIdPTR \"ld\"\n#define PRIuPTR \"lu\"\n"
    "#define PRIxPTR \"lx\"\n#define SCNd32 \"d\"\n#define SCNu32 \"u\"\n#define SCNd64 \"ld\"\n#define SCNu64 \"lu\"\n"
    "intmax_t imaxabs(intmax_t); intmax_t strtoimax(const char *, char **, int);\n"
    "uintmax_t strtoumax(const char *, char **, int);\n";

static const char stdbool_h[] =
    "#pragma once\n"
    "#if !defined __STDC_VERSION__ || __STDC_VERSION__ < 202311L\n"
    "#define bool _Bool\n#define true 1\n#define false 0\n"
    "#endif\n#define __bool_true_false_are_defined 1\n";

/* parts of it are asked for by __need_size_t and the like: all of it is harmless */
static const char stddef_h[] =
    "#ifndef __RG_STDDEF_H\n#define __RG_STDDEF_H\n"
    "typedef __SIZE_TYPE__ size_t; typedef __PTRDIFF_TYPE__ ptrdiff_t; typedef __WCHAR_TYPE__ wchar_t;\n"
    "typedef __WINT_TYPE__ wint_t; typedef struct { long long __a; long double __b; } max_align_t;\n"
    "#define offsetof(t, m) __builtin_offsetof(t, m)\n#endif\n"
    "#ifndef NULL\n#define NULL ((void *)0)\n#endif\n"
    "#undef __need_size_t\n#undef __need_wchar_t\n#undef __need_NULL\n#undef __need_ptrdiff_t\n#undef __need_wint_t\n";

static const char stdarg_h[] =
    "#ifndef __RG_STDARG_H\n#define __RG_STDARG_H\n"
    "typedef __builtin_va_list __gnuc_va_list; typedef __builtin_va_list va_list;\n"
    "#define va_start(...) __builtin_va_start(__VA_ARGS__, 0)\n#define va_end(l) __builtin_va_end(l)\n"
    "#define va_arg(l, t) __builtin_va_arg(l, t)\n#define va_copy(d, s) __builtin_va_copy(d, s)\n#endif\n"
    "#undef __need___va_list\n";

static const char float_h[] =
    "#pragma once\n"
    "#define FLT_RADIX 2\n#define FLT_EVAL_METHOD 0\n#define FLT_ROUNDS 1\n#define DECIMAL_DIG __DECIMAL_DIG__\n"
    "#define FLT_MANT_DIG __FLT_MANT_DIG__\n#define DBL_MANT_DIG __DBL_MANT_DIG__\n"
    "#define FLT_EPSILON __FLT_EPSILON__\n#define DBL_EPSILON __DBL_EPSILON__\n"
    "#define FLT_MIN __FLT_MIN__\n#define DBL_MIN __DBL_MIN__\n#define FLT_MAX __FLT_MAX__\n"
    "#define DBL_MAX __DBL_MAX__\n"
    "#define FLT_TRUE_MIN __FLT_DENORM_MIN__\n#define DBL_TRUE_MIN __DBL_DENORM_MIN__\n"
    "#define FLT_DIG __FLT_DIG__\n#define DBL_DIG __DBL_DIG__\n#define FLT_DECIMAL_DIG 9\n#define DBL_DECIMAL_DIG 17\n"
    "#define FLT_HAS_SUBNORM 1\n#define DBL_HAS_SUBNORM 1\n"
    "#define FLT_MIN_EXP __FLT_MIN_EXP__\n#define FLT_MAX_EXP __FLT_MAX_EXP__\n"
    "#define DBL_MIN_EXP __DBL_MIN_EXP__\n#define DBL_MAX_EXP __DBL_MAX_EXP__\n"
    "#define FLT_MIN_10_EXP __FLT_MIN_10_EXP__\n#define FLT_MAX_10_EXP __FLT_MAX_10_EXP__\n"
    "#define DBL_MIN_10_EXP __DBL_MIN_10_EXP__\n#define DBL_MAX_10_EXP __DBL_MAX_10_EXP__\n"
    "#define LDBL_MANT_DIG __LDBL_MANT_DIG__\n#define LDBL_DIG __LDBL_DIG__\n#define LDBL_EPSILON __LDBL_EPSILON__\n"
    "#define LDBL_MIN __LDBL_MIN__\n#define LDBL_MAX __LDBL_MAX__\n#define LDBL_MIN_EXP __LDBL_MIN_EXP__\n"
    "#define LDBL_MAX_EXP __LDBL_MAX_EXP__\n";

static const char limits_h[] =
    "#ifndef __RG_LIMITS_H\n#define __RG_LIMITS_H\n"
    "#define CHAR_BIT 8\n#define SCHAR_MIN (-128)\n#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n"
    "#define MB_LEN_MAX 16\n"
    "#ifdef __CHAR_UNSIGNED__\n#define CHAR_MIN 0\n#define CHAR_MAX UCHAR_MAX\n"
    "#else\n#define CHAR_MIN SCHAR_MIN\n#define CHAR_MAX SCHAR_MAX\n#endif\n"
    "#define SHRT_MIN (-32768)\n#define SHRT_MAX 32767\n#define USHRT_MAX 65535\n"
    "#define INT_MIN (-2147483647-1)\n#define INT_MAX 2147483647\n#define UINT_MAX 4294967295U\n"
    "#define LONG_MAX __LONG_MAX__\n#define LONG_MIN (-LONG_MAX-1L)\n#define ULONG_MAX (LONG_MAX*2UL+1UL)\n"
    "#define LLONG_MIN (-9223372036854775807LL-1)\n#define LLONG_MAX 9223372036854775807LL\n"
    "#define ULLONG_MAX 18446744073709551615ULL\n#define PATH_MAX 4096\n#define NAME_MAX 255\n#define IOV_MAX 1024\n"
    "#endif\n";

static const char iso646_h[] =
    "#pragma once\n"
    "#define and &&\n#define and_eq &=\n#define bitand &\n#define bitor |\n#define compl ~\n#define not !\n"
    "#define not_eq !=\n#define or ||\n#define or_eq |=\n#define xor ^\n#define xor_eq ^=\n";

static const char stdalign_h[] =
    "#pragma once\n"
    "#if !defined __STDC_VERSION__ || __STDC_VERSION__ < 202311L\n"
    "#define alignas _Alignas\n#define alignof _Alignof\n#endif\n"
    "#define __alignas_is_defined 1\n#define __alignof_is_defined 1\n";

static const char stdnoreturn_h[] = "#pragma once\n#define noreturn _Noreturn\n";

static const char stdlib_h[] =
    "#pragma once\n#include <stddef.h>\n"
    "typedef struct { int quot, rem; } div_t; typedef struct { long quot, rem; } ldiv_t;\n"
    "int abs(int); long labs(long); long long llabs(long long); div_t div(int, int); ldiv_t ldiv(long, long);\n"
    "void *malloc(size_t); void *calloc(size_t, size_t); void *realloc(void *, size_t); void free(void *);\n"
    "void *aligned_alloc(size_t, size_t); int posix_memalign(void **, size_t, size_t);\n"
    "_Noreturn void exit(int); _Noreturn void _Exit(int); _Noreturn void abort(void); int atexit(void (*)(void));\n"
    "int atoi(const char *); long atol(const char *); long long atoll(const char *); double atof(const char *);\n"
    "long strtol(const char *, char **, int); unsigned long strtoul(const char *, char **, int);\n"
    "long long strtoll(const char *, char **, int); unsigned long long strtoull(const char *, char **, int);\n"
    "double strtod(const char *, char **); float strtof(const char *, char **);\n"
    "int rand(void); void srand(unsigned); int rand_r(unsigned *); long random(void); void srandom(unsigned);\n"
    "double drand48(void); double erand48(unsigned short *); long lrand48(void); void srand48(long);\n"
    "char *getenv(const char *); int setenv(const char *, const char *, int); int system(const char *);\n"
    "void qsort(void *, size_t, size_t, int (*)(const void *, const void *));\n"
    "void *bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));\n"
    "#define RAND_MAX 2147483647\n#define EXIT_SUCCESS 0\n#define EXIT_FAILURE 1\n";

static const char stdio_h[] =
    "#pragma once\n#include <stddef.h>\n#include <stdarg.h>\n"
    "typedef struct __rg_file FILE; typedef long fpos_t; extern FILE *stdin, *stdout, *stderr;\n"
    "int printf(const char *, ...); int fprintf(FILE *, const char *, ...); int sprintf(char *, const char *, ...);\n"
    "int snprintf(char *, size_t, const char *, ...); int vprintf(const char *, va_list);\n"
    "int vfprintf(FILE *, const char *, va_list); int vsnprintf(char *, size_t, const char *, va_list);\n"
    "int scanf(const char *, ...); int fscanf(FILE *, const char *, ...);"
    " int sscanf(const char *, const char *, ...);\n"
    "int puts(const char *); int fputs(const char *, FILE *); int putchar(int); int putc(int, FILE *);\n"
    "int fputc(int, FILE *); int getchar(void); int getc(FILE *); int fgetc(FILE *); int ungetc(int, FILE *);\n"
    "char *fgets(char *, int, FILE *); void perror(const char *);\n"
    "FILE *fopen(const char *, const char *); FILE *fdopen(int, const char *); int fclose(FILE *);"
    " int fflush(FILE *);\n"
    "size_t fread(void *, size_t, size_t, FILE *); size_t fwrite(const void *, size_t, size_t, FILE *);\n"
    "int fseek(FILE *, long, int); long ftell(FILE *); void rewind(FILE *); int feof(FILE *); int ferror(FILE *);\n"
    "int fileno(FILE *); int remove(const char *); int rename(const char *, const char *);\n"
    "int setvbuf(FILE *, char *, int, size_t); long getline(char **, size_t *, FILE *);\n"
    "#define EOF (-1)\n#define BUFSIZ 8192\n#define SEEK_SET 0\n#define SEEK_CUR 1\n#define SEEK_END 2\n"
    "#define _IOFBF 0\n#define _IOLBF 1\n#define _IONBF 2\n#define FILENAME_MAX 4096\n";

static const char string_h[] =
    "#pragma once\n#include <stddef.h>\n"
    "void *memcpy(void *, const void *, size_t); void *memset(void *, int, size_t);\n"
    "void *memmove(void *, const void *, size_t); int memcmp(const void *, const void *, size_t);\n"
    "void *memchr(const void *, int, size_t); size_t strlen(const char *); size_t strnlen(const char *, size_t);\n"
    "int strcmp(const char *, const char *); int strncmp(const char *, const char *, size_t);\n"
    "int strcasecmp(const char *, const char *); int strncasecmp(const char *, const char *, size_t);\n"
    "char *strcpy(char *, const char *); char *strncpy(char *, const char *, size_t);\n"
    "char *strcat(char *, const char *); char *strncat(char *, const char *, size_t);\n"
    "char *strchr(const char *, int); char *strrchr(const char *, int); char *strstr(const char *, const char *);\n"
    "char *strdup(const char *); char *strndup(const char *, size_t); char *strtok(char *, const char *);\n"
    "char *strtok_r(char *, const char *, char **); char *strsep(char **, const char *); char *strerror(int);\n"
    "size_t strspn(const char *, const char *); size_t strcspn(const char *, const char *);\n"
    "char *strpbrk(const char *, const char *);\n";

static const char ctype_h[] =
    "#pragma once\n"
    "int isalnum(int); int isalpha(int); int isblank(int); int iscntrl(int); int isdigit(int); int isgraph(int);\n"
    "int islower(int); int isprint(int); int ispunct(int); int isspace(int); int isupper(int); int isxdigit(int);\n"
    "int tolower(int); int toupper(int);\n";

static const char errno_h[] =
    "#pragma once\nextern int errno;\n"
    "#define EPERM 1\n#define ENOENT 2\n#define EINTR 4\n#define EIO 5\n#define EAGAIN 11\n#define ENOMEM 12\n"
    "#define EACCES 13\n#define EBUSY 16\n#define EEXIST 17\n#define EINVAL 22\n#define EDOM 33\n#define ERANGE 34\n";

static const char systypes_h[] =
    "#pragma once\n#include <stddef.h>\n#include <stdint.h>\n"
    "typedef long ssize_t, off_t, time_t, suseconds_t, clock_t, blksize_t, blkcnt_t; typedef int pid_t, clockid_t;\n"
    "typedef unsigned uid_t, gid_t, mode_t, useconds_t; typedef unsigned long dev_t, ino_t, nlink_t;\n"
    "typedef unsigned char u_char; typedef unsigned short u_short; typedef unsigned u_int;"
    " typedef unsigned long u_long;\n"
    "typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned uint; typedef unsigned long ulong;\n";

static const char time_h[] =
    "#pragma once\n#include <sys/types.h>\n"
    "struct timespec { time_t tv_sec; long tv_nsec; };\n"
    "struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; };\n"
    "time_t time(time_t *); clock_t clock(void); double difftime(time_t, time_t); time_t mktime(struct tm *);\n"
    "struct tm *localtime(const time_t *); struct tm *gmtime(const time_t *); char *ctime(const time_t *);\n"
    "char *asctime(const struct tm *); size_t strftime(char *, size_t, const char *, const struct tm *);\n"
    "int clock_gettime(clockid_t, struct timespec *); int nanosleep(const struct timespec *, struct timespec *);\n"
    "#define CLOCKS_PER_SEC 1000000L\n#define CLOCK_REALTIME 0\n#define CLOCK_MONOTONIC 1\n";

static const char systime_h[] =
    "#pragma once\n#include <sys/types.h>\n"
    "struct timeval { time_t tv_sec; suseconds_t tv_usec; };\n"
    "struct timezone { int tz_minuteswest, tz_dsttime; };\n"
    "int gettimeofday(struct timeval *, void *);\n";

static const char sysresource_h[] =
    "#pragma once\n#include <sys/time.h>\n"
    "struct rusage { struct timeval ru_utime, ru_stime; long ru_maxrss, __rg_more[13]; };\n"
    "int getrusage(int, struct rusage *);\n#define RUSAGE_SELF 0\n#define RUSAGE_CHILDREN (-1)\n";

static const char unistd_h[] =
    "#pragma once\n#include <sys/types.h>\n"
    "int close(int); ssize_t read(int, void *, size_t); ssize_t write(int, const void *, size_t);\n"
    "off_t lseek(int, off_t, int); int unlink(const char *); int access(const char *, int); int isatty(int);\n"
    "unsigned sleep(unsigned); int usleep(useconds_t); pid_t getpid(void); pid_t fork(void); long sysconf(int);\n"
    "int getopt(int, char *const *, const char *); extern char *optarg; extern int optind, opterr, optopt;\n"
    "int gethostname(char *, size_t); char *getcwd(char *, size_t); int chdir(const char *);"
    " _Noreturn void _exit(int);\n"
    "#define STDIN_FILENO 0\n#define STDOUT_FILENO 1\n#define STDERR_FILENO 2\n"
    "#define R_OK 4\n#define W_OK 2\n#define X_OK 1\n#define F_OK 0\n#define _SC_PAGESIZE 30\n"
    "#define _SC_NPROCESSORS_ONLN 84\n";

static const char locale_h[] =
    "#pragma once\nchar *setlocale(int, const char *);\n"
    "#define LC_CTYPE 0\n#define LC_NUMERIC 1\n#define LC_TIME 2\n#define LC_COLLATE 3\n"
    "#define LC_MONETARY 4\n#define LC_ALL 6\n";

static const char setjmp_h[] =
    "#pragma once\ntypedef long jmp_buf[25], sigjmp_buf[25];\n"
    "int setjmp(jmp_buf); _Noreturn void longjmp(jmp_buf, int);\n";

static const char signal_h[] =
    "#pragma once\ntypedef int sig_atomic_t; void (*signal(int, void (*)(int)))(int); int raise(int);\n"
    "#define SIG_DFL ((void (*)(int))0)\n#define SIG_IGN ((void (*)(int))1)\n#define SIG_ERR ((void (*)(int))-1)\n"
    "#define SIGINT 2\n#define SIGILL 4\n#define SIGABRT 6\n#define SIGFPE 8\n#define SIGKILL 9\n#define SIGSEGV 11\n"
    "#define SIGALRM 14\n#define SIGTERM 15\n";

static const char pthread_h[] =
    "#pragma once\n#include <time.h>\n"
    "typedef unsigned long pthread_t; typedef struct { long __rg[8];"
    " } pthread_attr_t, pthread_mutex_t, pthread_cond_t,\n"
    "pthread_barrier_t; typedef int pthread_mutexattr_t, pthread_condattr_t, pthread_barrierattr_t, pthread_once_t;\n"
    "typedef unsigned pthread_key_t;\n"
    "int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);"
    " int pthread_join(pthread_t, void **);\n"
    "_Noreturn void pthread_exit(void *); pthread_t pthread_self(void); int pthread_detach(pthread_t);\n"
    "int pthread_attr_init(pthread_attr_t *); int pthread_attr_destroy(pthread_attr_t *);\n"
    "int pthread_attr_setdetachstate(pthread_attr_t *, int); int pthread_attr_setstacksize(pthread_attr_t *, size_t);\n"
    "int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);"
    " int pthread_mutex_destroy(pthread_mutex_t *);\n"
    "int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);\n"
    "int pthread_cond_init(pthread_cond_t *, const pthread_condattr_t *); int pthread_cond_destroy(pthread_cond_t *);\n"
    "int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);\n"
    "int pthread_cond_broadcast(pthread_cond_t *); int pthread_once(pthread_once_t *, void (*)(void));\n"
    "int pthread_barrier_init(pthread_barrier_t *, const pthread_barrierattr_t *, unsigned);\n"
    "int pthread_barrier_wait(pthread_barrier_t *); int pthread_barrier_destroy(pthread_barrier_t *);\n"
    "#define PTHREAD_MUTEX_INITIALIZER {{0}}\n#define PTHREAD_COND_INITIALIZER {{0}}\n#define PTHREAD_ONCE_INIT 0\n"
    "#define PTHREAD_CREATE_JOINABLE 0\n#define PTHREAD_CREATE_DETACHED 1\n";

/* alone: needs nothing of the system; where libclang's own headers are installed, those are taken */
#define HEADER(name, text, alone)                                                                                      \
    {                                                                                                                  \
        FRONT_SPARE_DIR "/" name, name, text, sizeof(text) - 1, alone                                                  \
    }
const front_header front_spare_headers[] = {
    HEADER("stdint.h", stdint_h, true),
    HEADER("stdbool.h", stdbool_h, true),
    HEADER("stddef.h", stddef_h, true),
    HEADER("stdarg.h", stdarg_h, true),
    HEADER("float.h", float_h, true),
    HEADER("iso646.h", iso646_h, true),
    HEADER("stdalign.h", stdalign_h, true),
    HEADER("stdnoreturn.h", stdnoreturn_h, true),
    HEADER("inttypes.h", inttypes_h, false),
    HEADER("limits.h", limits_h, false),
    HEADER("stdlib.h", stdlib_h, false),
    HEADER("stdio.h", stdio_h, false),
    HEADER("string.h", string_h, false),
    HEADER("strings.h", string_h, false),
    HEADER("ctype.h", ctype_h, false),
    HEADER("errno.h", errno_h, false),
    HEADER("time.h", time_h, false),
    HEADER("sys/time.h", systime_h, false),
    HEADER("sys/types.h", systypes_h, false),
    HEADER("sys/resource.h", sysresource_h, false),
    HEADER("unistd.h", unistd_h, false),
    HEADER("getopt.h", unistd_h, false),
    HEADER("locale.h", locale_h, false),
    HEADER("setjmp.h", setjmp_h, false),
    HEADER("signal.h", signal_h, false),
    HEADER("pthread.h", pthread_h, false),
};
const size_t front_spare_header_count = countof(front_spare_headers);
