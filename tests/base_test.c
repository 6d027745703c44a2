/* The base library: arenas, maps, strings, halves, diagnostics, files, owners.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "base/digest.h"
#include "check.h"

#include <setjmp.h>
#include <unistd.h>

static uint64_t
next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    return hash_u64(0, *state);
}

static void
test_arena(void)
{
    arena *a = arena_new();
    char *first = arena_alloc(a, 10);
    memset(first, 7, 10);
    arena_mark m = arena_here(a);
    for (int i = 0; i < 100; i++) {
        unsigned char *p = arena_alloc(a, 1000);
        CHECK(((uintptr_t)p & 15) == 0 && p[0] == 0 && p[999] == 0, "aligned and zeroed");
        memset(p, 255, 1000);
    }
    unsigned char *large = arena_alloc(a, 3 << 20);
    CHECK(large[(3 << 20) - 1] == 0, "zeroed");
    arena_release(a, m);
    unsigned char *again = arena_alloc(a, 1000);
    CHECK(again[0] == 0 && again[999] == 0, "zeroed after a release");
    CHECK(first[9] == 7, "kept before the mark");
    CHECK(strcmp(arena_str(a, (rg_str){"word", 3}), "wor") == 0, "a string's copy");
    arena_free(a);
    arena_free(NULL);
}

/* against a table indexed by the key */
static void
test_map(void)
{
    map m = {0};
    void *want[512] = {0};
    uint64_t state = 1;
    size_t n = 0;
    CHECK(!map_get(&m, 3), "an empty map");
    map_set(&m, 3, NULL);
    for (int i = 0; i < 20000; i++) {
        uint64_t r = next_random(&state), key = r % 512;
        void *value = (r >> 20) % 3 ? (void *)(uintptr_t)(r | 1) : NULL;
        n += (value != NULL) - (want[key] != NULL);
        want[key] = value;
        map_set(&m, key << 40, value);
        CHECK(m.n == n, "%zu entries, not %zu", m.n, n);
    }
    for (uint64_t key = 0; key < 512; key++)
        CHECK(map_get(&m, key << 40) == want[key], "key %d", (int)key);
    map_free(&m);
}

static void
test_str(void)
{
    str s = {0};
    str_addz(&s, "a");
    str_addf(&s, "%d-%s", 42, "x");
    str_addc(&s, '!');
    str_add(&s, (rg_str){NULL, 0});
    CHECK(strcmp(s.ptr, "a42-x!") == 0 && s.len == 6, "%s", s.ptr);
    for (int i = 0; i < 1000; i++)
        str_addf(&s, "%d", i);
    CHECK(s.len == 6 + 2890 && s.ptr[s.len] == 0, "%zu", s.len);
    str_free(&s);
}

static void
test_half(void)
{
    for (unsigned h = 0; h < 65536; h++) {
        float f = float_of_half((uint16_t)h);
        bool nan = (h & 0x7c00) == 0x7c00 && (h & 0x3ff);
        CHECK(nan ? f != f && (half_of_float(f) & 0x7e00) == 0x7e00 : half_of_float(f) == h, "%x",
              h);
    }
    CHECK(half_of_float(65519.99f) == 0x7bff && half_of_float(65520) == 0x7c00, "overflow");
    CHECK(half_of_float(0x1p-25f) == 0 && half_of_float(0x1.8p-25f) == 1, "underflow");
    CHECK(half_of_float(1 + 0x1p-11f) == 0x3c00 && half_of_float(1 + 0x3p-11f) == 0x3c02,
          "to even");
}

static void
test_diag(void)
{
    diag_list d = {.limit = 2};
    static const char source[] = "one\n\ttwo three\n";
    diag_place at = {"k.c", source, sizeof source - 1, 2, 6, 11};
    diag_add(&d, DIAG_ERROR, 312, at, "bad %s\ndo better", "word");
    CHECK(strcmp(d.text.ptr, "k.c:2:6: error[E0312]: bad word\n"
                             " 2 | \ttwo three\n"
                             "   | \t    ^~~~~\n"
                             "  = help: do better\n") == 0,
          "%s", d.text.ptr);
    for (uint32_t line = 0; line < 5; line++)
        for (uint32_t col = 0; col < 20; col++)
            diag_add(&d, DIAG_NOTE, 0, (diag_place){"k.c", source, 3, line, col, 0}, "anywhere");
    for (int i = 0; i < 5; i++)
        diag_add(&d, DIAG_ERROR, 1, (diag_place){0}, "no place");
    CHECK(d.errors == 6 && strstr(d.text.ptr, "more than 2 errors"), "the limit");
    CHECK(d.kinds == (1u << 3 | 1u << 0), "kinds %x", d.kinds);
    diag_list all = {0};
    diag_add(&all, DIAG_ERROR, 501, (diag_place){0}, "first");
    diag_join(&all, &d);
    CHECK(all.errors == 7 && all.kinds == (d.kinds | 1u << 5), "%u errors of kinds %x", all.errors, all.kinds);
    CHECK(strncmp(all.text.ptr, "error[E0501]: first\nk.c:2:6:", 28) == 0 && str_ends(str_view(&all.text), d.text.ptr), "%s",
          all.text.ptr);
    diag_free(&all);
    diag_free(&d);
}

static void
test_files(void)
{
    char path[64];
    snprintf(path, sizeof path, "base_test.%ld", (long)getpid());
    str s = {0};
    CHECK(file_read(path, &s) == RG_NOT_FOUND, "no such file");
    CHECK(file_write(path, "a\0b", 3) == RG_OK && file_write(path, "cd\0", 3) == RG_OK, "written");
    CHECK(file_read(path, &s) == RG_OK && s.len == 3 && memcmp(s.ptr, "cd\0", 4) == 0, "read");
    str_free(&s);
    CHECK(file_read(".", &s) == RG_IO && !s.ptr, "a directory");
    CHECK(file_write("no/such/folder", "", 0) != RG_OK, "no such folder");
    remove(path);
}

typedef struct caught {
    jmp_buf at;
    size_t bytes;
} caught;

static void
leave(void *user, size_t bytes)
{
    caught *c = user;
    c->bytes = bytes;
    longjmp(c->at, 1);
}

/* what is made under a handler ends with it; what is made without one stays, and neither leaks nor moves */
static void
test_scratch(void)
{
    caught c;
    str outside = {.in = mem_scratch()};
    str_addz(&outside, "stays");
    arena *without = mem_scratch();
    mem_set_handler(leave, &c);
    CHECK(mem_scratch() != without, "a handler has an arena of its own");
    if (setjmp(c.at) == 0) {
        str s = {.in = mem_scratch()};
        str_addz(&s, "goes");
        memset(arena_raw(mem_scratch(), 100000), 1, 100000);
        mem_fail_after(1);
        mem_alloc(123);
        CHECK(false, "the allocation fails");
    }
    mem_set_handler(NULL, NULL);
    CHECK(mem_scratch() == without && strcmp(outside.ptr, "stays") == 0, "the other one is there as before");
}

/* the last ones beside those of another implementation */
static void
test_digest(void)
{
    static const struct {
        size_t n;
        const char *is;
    } texts[] = {
        {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
        {128, "ae2aa48507885c4c950fb809b2076f959cde9f8ea6da260d9a3587df33dac450"},
        {129, "2f64744a6de0d2c0b56e64cf6e29a5aaa255010d415d51c75ccc82f73dccd865"},
    };
    char bytes[129];
    uint8_t d[DIGEST_BYTES];
    memset(bytes, 'a', sizeof bytes);
    for (size_t i = 0; i < countof(texts); i++) {
        str text = {.in = mem_scratch()};
        digest_of(bytes, texts[i].n, d);
        digest_print(&text, d);
        CHECK(strcmp(text.ptr, texts[i].is) == 0, "of %zu bytes: %s", texts[i].n, text.ptr);
    }
    unsigned char ramp[1280];
    for (size_t i = 0; i < sizeof ramp; i++)
        ramp[i] = (unsigned char)i;
    digest parts;
    digest_begin(&parts);
    for (size_t at = 0, n = 1; at < sizeof ramp; at += n, n = n * 3 < sizeof ramp - at ? n * 3 : sizeof ramp - at)
        digest_add(&parts, ramp + at, n < sizeof ramp - at ? n : sizeof ramp - at);
    digest_end(&parts, d);
    str text = {.in = mem_scratch()};
    digest_print(&text, d);
    CHECK(strcmp(text.ptr, "82628cbfc9689e234b0923a531f4578fe2e7138a03e2f81ed6cde97517336650") == 0, "in parts: %s", text.ptr);
}

/* what was written is read; cut off anywhere it is damaged */
static void
test_bytes(void)
{
    str out = {.in = mem_scratch()};
    bytes_put_u32(&out, 0x12345678);
    bytes_put_u64(&out, UINT64_MAX - 1);
    bytes_put(&out, rg_str_of("text"));
    bytes_put(&out, (rg_str){NULL, 0});
    bytes_put(&out, rg_str_of(""));
    bytes_put_u32(&out, 1);
    bytes_put_u64(&out, 7);
    for (size_t n = 0; n <= out.len + 1; n++) {
        str cut = {.in = mem_scratch()};
        str_add(&cut, (rg_str){out.ptr, n < out.len ? n : out.len});
        for (size_t i = out.len; i < n; i++)
            str_addc(&cut, 0);
        bytes_reader r = bytes_of(str_view(&cut));
        uint32_t first = bytes_u32(&r);
        uint64_t second = bytes_u64(&r);
        rg_str third = bytes_str(&r);
        const char *none = bytes_text(&r, mem_scratch()), *empty = bytes_text(&r, mem_scratch());
        uint32_t count = bytes_count(&r, 8);
        uint64_t last = bytes_u64(&r);
        CHECK(bytes_done(&r) == (n == out.len), "%zu bytes of %zu", n, out.len);
        CHECK(n < out.len || (first == 0x12345678 && second == UINT64_MAX - 1 && str_eq(third, rg_str_of("text")) && !none &&
                              empty && !*empty && count == 1 && last == 7),
              "what was written");
    }
}

/* a failure releases what was owned since the handler was set, and nothing else */
static void
test_owners(void)
{
    caught c;
    arena *kept = arena_new();
    mem_owner owns_kept;
    mem_own(&owns_kept, mem_release_arena, kept);
    mem_set_handler(leave, &c);
    mem_fail_after(4);
    if (setjmp(c.at) == 0) {
        str s = {0};
        map m = {0};
        void *p = NULL;
        mem_owner owns[4];
        mem_own(&owns[0], mem_release_str, &s);
        mem_own(&owns[1], mem_release_map, &m);
        mem_own(&owns[2], mem_release_ptr, &p);
        str_addz(&s, "x");
        map_set(&m, 1, &m);
        p = mem_alloc(100);
        mem_alloc(123);
        CHECK(false, "the fourth allocation fails");
    }
    CHECK(c.bytes == 123, "%zu bytes", c.bytes);
    mem_set_handler(NULL, NULL);
    arena_alloc(kept, 100);
    mem_disown(&owns_kept);
    arena_free(kept);
}

int
main(void)
{
    test_arena();
    test_map();
    test_str();
    test_half();
    test_diag();
    test_files();
    test_scratch();
    test_owners();
    test_digest();
    test_bytes();
    return check_done();
}
