/* Reads the patterns of ops.def. SPDX-License-Identifier: Apache-2.0 */
#include "ir/pattern.h"

static const char *const words[] = {
    [IR_WORD_ANY] = "any",     [IR_WORD_ARRAY] = "array", [IR_WORD_BOOL] = "bool",   [IR_WORD_BOOLS] = "bools",
    [IR_WORD_BUF] = "buf",     [IR_WORD_CAS] = "cas",     [IR_WORD_CURSOR] = "cursor", [IR_WORD_ELEM] = "elem",
    [IR_WORD_FIRST] = "first", [IR_WORD_FRAME] = "frame", [IR_WORD_I32] = "i32",     [IR_WORD_I64] = "i64",
    [IR_WORD_INDEX] = "index", [IR_WORD_INT] = "int",     [IR_WORD_LANE] = "lane",   [IR_WORD_LANES] = "lanes",
    [IR_WORD_MASK] = "mask",   [IR_WORD_NUM] = "num",     [IR_WORD_PLACE] = "place", [IR_WORD_SAME] = "same",
    [IR_WORD_SLOT] = "slot",   [IR_WORD_TRACE] = "trace", [IR_WORD_U64] = "u64",
};

static uint8_t
word_at(const char *at, size_t len)
{
    for (unsigned i = 0; i < countof(words); i++)
        if (words[i][0] == at[0] && strncmp(words[i], at, len) == 0 && !words[i][len])
            return (uint8_t)i;
    assert(false && "a word of ops.def");
    return IR_WORD_ANY;
}

static ir_item
next_item(const char **at)
{
    const char *p = *at;
    ir_item item = {.spaced = *p == ' '};
    p += item.spaced;
    size_t len = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789");
    if (!len) {
        item.what = *p == '-' ? '>' : *p;
        len = *p == '-' || *p == '{' ? 2 : *p != 0;
    } else if (len == 2) {
        item.what = 'i';
    } else {
        item.what = 'w';
        item.word = word_at(p, len);
        item.times = p[len] == '*' || p[len] == '?' ? p[len] : 0;
        len += item.times != 0;
    }
    *at = p + len;
    return item;
}

void
ir_pattern_read(rg_op op, ir_item *items)
{
    const char *at = ir_ops[op].pattern;
    uint32_t n = 0;
    while ((items[n] = next_item(&at)).what)
        n++;
    assert(n + 2 < IR_PATTERN_MOST);
}

uint32_t
ir_item_takes(const ir_op *op, ir_item word, uint32_t n, uint32_t least)
{
    if (word.times)
        return n > least ? n - least : 0;
    return word.word == IR_WORD_MASK ? op->masked : word.word == IR_WORD_CAS ? op->rmw == RG_RMW_CAS : 1;
}

ir_counts
ir_counts_of(const ir_op *op, const ir_item *items)
{
    ir_counts c = {0};
    bool results = false;
    for (const ir_item *item = items; item->what; item++) {
        results |= item->what == '>';
        c.nregions += item->what == '{';
        if (item->what != 'w')
            continue;
        *(results ? &c.nresults : &c.nargs) += ir_item_takes(op, *item, 0, 0);
        if (item->times)
            *(results ? &c.more_results : &c.more_args) = item->times;
    }
    return c;
}
