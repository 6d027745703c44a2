/* Lanes of processors that are named, by the size of an element. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "target/target.h"

#include <string.h>

static const struct {
    const char *triple, *cpu, *table;
    uint32_t lanes[4]; /* of elements of 1, 2, 4 and 8 bytes */
} rows[] = {
    {"aarch64-linux-gnu", NULL, "neon", {16, 8, 4, 2}},
    {"aarch64-linux-gnu", "generic", "neon", {16, 8, 4, 2}},
    {"arm64-apple-macosx", "apple-m1", "neon", {16, 8, 4, 2}},
    {"aarch64-linux-gnu", "neoverse-v2", "neon", {16, 8, 4, 2}},
    {"aarch64-linux-gnu", "neoverse-v1", "sve256", {32, 16, 8, 4}},
    {"aarch64-unknown-linux-gnu", "a64fx", "sve512", {64, 32, 16, 8}},
    {"x86_64-pc-linux-gnu", NULL, "cpu16", {16, 8, 4, 2}},
    {"x86_64-pc-linux-gnu", "a64fx", "cpu16", {16, 8, 4, 2}},
    {"x86_64-pc-linux-gnu", "x86-64-v3", "cpu32", {32, 16, 8, 4}},
    {"x86_64-pc-linux-gnu", "znver5", "cpu", {64, 32, 16, 8}},
    {"x86_64-pc-linux-gnu", "skylake", "cpu32", {32, 16, 8, 4}},
    {"x86_64-pc-linux-gnu", "lake", "cpu16", {16, 8, 4, 2}},
    {"riscv64-linux-gnu", NULL, "cpu16", {16, 8, 4, 2}},
};

int
main(void)
{
    for (size_t i = 0; i < countof(rows); i++) {
        const target *t = target_named(rows[i].triple, rows[i].cpu);
        CHECK(strcmp(t->name, rows[i].table) == 0, "%s, %s: %s", rows[i].triple, rows[i].cpu ? rows[i].cpu : "any", t->name);
        for (uint32_t k = 0; k < 4; k++)
            CHECK(target_lanes(t, 1u << k) == rows[i].lanes[k], "%s, %u bytes", t->name, 1u << k);
        CHECK(target_find(t->name) == t, "no table is called %s", t->name);
        CHECK(t->scalable == (strncmp(t->name, "sve", 3) == 0) && !t->warp, "%s", t->name);
    }
    CHECK(target_host()->vector >= 16 && target_named(NULL, NULL)->vector <= target_host()->vector, "this machine");
    CHECK(target_find("nvidia") == &target_nvidia && !target_find("abacus"), "tables by name");
    return check_done();
}
