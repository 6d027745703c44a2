/* Loops of PTX: what ptx_loops finds in texts. SPDX-License-Identifier: Apache-2.0 */
#include "ptx_loops.h"

/* an inner loop of which a part leads straight to the outer head */
static const char out_of_inner[] = ".entry k(\n)\n{\n$L__BB0_1:\n\tadd.s32 %r1, %r1, 1;\n$L__BB0_2:\n\t@%p1 bra $L__BB0_1;\n\tadd.s32 %r2, %r2, 1;\n"
                                   "\t@%p2 bra \t$L__BB0_2;\n\tbra.uni $L__BB0_1;\n\tret;\n}\n";
/* the same where both meet before they go back */
static const char met[] = ".entry k(\n)\n{\n$L__BB0_1:\n$L__BB0_2:\n\tadd.s32 %r1, %r1, 1;\n\t@%p1 bra $L__BB0_3;\n\t@%p2 bra $L__BB0_2;\n$L__BB0_3:\n"
                          "\tbar.warp.sync -1;\n\t@%p3 bra $L__BB0_1;\n\tret;\n}\n";
/* one way back from before the inner loop, one from behind it */
static const char before[] = ".entry k(\n)\n{\n$L__BB0_1:\n\t@%p1 bra $L__BB0_1;\n$L__BB0_2:\n\t@%p2 bra $L__BB0_2;\n\t@%p3 bra $L__BB0_1;\n\tret;\n}\n";
/* an inner loop that may be passed by, and two ways back behind it */
static const char passed_by[] = ".entry k(\n)\n{\n$L__BB0_1:\n\t@%p1 bra $L__BB0_3;\n$L__BB0_2:\n\t@%p2 bra $L__BB0_2;\n$L__BB0_3:\n\t@%p3 bra $L__BB0_1;\n"
                                "\tadd.s32 %r1, %r1, 1;\n\t@%p4 bra $L__BB0_1;\n\tret;\n}\n";
/* two ways back and no loop inside */
static const char flat[] = ".entry k(\n)\n{\n$L__BB0_1:\n\t@%p1 bra $L__BB0_1;\n\t@%p2 bra $L__BB0_1;\n\tret;\n}\n";
/* the first of these in a table of jumps, in the second function */
static const char table[] = ".func f(\n)\n{ // one\n\tret;\n}\n.entry k(\n)\n{\n$L_brx_0: .branchtargets\n\t$L__BB1_4,\n\t$L__BB1_1;\n\tbrx.idx %r9, $L_brx_0;\n"
                            "$L__BB1_4:\n\tret;\n$L__BB1_1:\n\tadd.s32 %r1, %r1, 1;\n$L__BB1_2:\n\t@%p1 bra $L__BB1_1;\n\t@%p2 bra $L__BB1_2;\n\tbra.uni $L__BB1_1;\n}\n";
static const char no_label[] = ".entry k(\n)\n{\n\tbra.uni $L__BB0_7;\n}\n";

int
main(void)
{
    static const struct {
        const char *what, *text;
        bool plain;
    } tests[] = {{"out of the inner loop", out_of_inner, false},
                 {"met before", met, true},
                 {"before the inner loop", before, true},
                 {"passed by", passed_by, false},
                 {"flat", flat, true},
                 {"in a table", table, false},
                 {"no such label", no_label, false},
                 {"no function", ".version 8.1\n", false}};
    int failures = 0;
    for (size_t i = 0; i < countof(tests); i++) {
        str why = {0};
        bool plain = ptx_loops_are_plain(tests[i].text, &why);
        if (plain != tests[i].plain || plain == (why.len > 0)) {
            fprintf(stderr, "%s: %s %s\n", tests[i].what, plain ? "plain" : "not plain", why.len ? why.ptr : "");
            failures++;
        }
        str_free(&why);
    }
    printf("%zu passed, %d failed\n", countof(tests) - (size_t)failures, failures);
    return failures != 0;
}
