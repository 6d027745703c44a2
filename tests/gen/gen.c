/* gen SEED [f64 | lanes | unordered]: prints one generated program. SPDX-License-Identifier: Apache-2.0 */
#include "gen.h"

int
main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: gen SEED [f64 | lanes | unordered]\n");
        return 2;
    }
    gen_program program;
    str text = {0};
    gen_options options = {.f64_only = argc == 3 && strcmp(argv[2], "f64") == 0,
                           .lanes = argc == 3 && strcmp(argv[2], "lanes") == 0,
                           .unordered = argc == 3 && strcmp(argv[2], "unordered") == 0};
    gen_make(&program, strtoull(argv[1], NULL, 0), &options);
    gen_print_program(&program, &text);
    fputs(text.ptr, stdout);
    str_free(&text);
    gen_free(&program);
    return 0;
}
