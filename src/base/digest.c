/* BLAKE2b with 32 bytes of result (RFC 7693), unkeyed. SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

enum { ROUNDS = 12, WORDS = 16 };

static const uint64_t start[8] = {0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
                                  0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u};

static const uint8_t order[ROUNDS][WORDS] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
};

static uint64_t
turned(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

static inline void
stir(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t x, uint64_t y)
{
    *a += *b + x;
    *d = turned(*d ^ *a, 32);
    *c += *d;
    *b = turned(*b ^ *c, 24);
    *a += *b + y;
    *d = turned(*d ^ *a, 16);
    *c += *d;
    *b = turned(*b ^ *c, 63);
}

static uint64_t
word_of_block(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Takes in the block; `size` is that of all so far. The rounds stand one by one: each word is then in a register. */
static void
compress(digest *d, const uint8_t *block, bool last)
{
    uint64_t v[WORDS], m[WORDS];
    for (unsigned i = 0; i < WORDS; i++)
        m[i] = word_of_block(block + 8 * i);
    memcpy(v, d->state, sizeof d->state);
    memcpy(v + 8, start, sizeof start);
    v[12] ^= d->size;
    v[14] ^= last ? UINT64_MAX : 0;
#pragma GCC unroll 12
    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint8_t *s = order[round];
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++)
            stir(&v[i], &v[4 + i], &v[8 + i], &v[12 + i], m[s[2 * i]], m[s[2 * i + 1]]);
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++)
            stir(&v[i], &v[4 + (i + 1) % 4], &v[8 + (i + 2) % 4], &v[12 + (i + 3) % 4], m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
    }
    for (unsigned i = 0; i < 8; i++)
        d->state[i] ^= v[i] ^ v[i + 8];
}

void
digest_begin(digest *d)
{
    *d = (digest){0};
    memcpy(d->state, start, sizeof start);
    d->state[0] ^= 0x01010000 ^ DIGEST_BYTES;
}

/* The last block is marked as such, so a full one waits until more comes. */
void
digest_add(digest *d, const void *data, size_t n)
{
    const uint8_t *from = data;
    while (n) {
        if (d->used == sizeof d->block) {
            d->size += sizeof d->block;
            compress(d, d->block, false);
            d->used = 0;
        }
        while (!d->used && n > sizeof d->block) { /* where they lie */
            d->size += sizeof d->block;
            compress(d, from, false);
            from += sizeof d->block;
            n -= sizeof d->block;
        }
        size_t part = sizeof d->block - d->used < n ? sizeof d->block - d->used : n;
        memcpy(d->block + d->used, from, part);
        d->used += part;
        from += part;
        n -= part;
    }
}

void
digest_end(digest *d, uint8_t out[DIGEST_BYTES])
{
    d->size += d->used;
    memset(d->block + d->used, 0, sizeof d->block - d->used);
    compress(d, d->block, true);
    for (unsigned i = 0; i < DIGEST_BYTES; i++)
        out[i] = (uint8_t)(d->state[i / 8] >> i % 8 * 8);
}

void
digest_of(const void *data, size_t n, uint8_t out[DIGEST_BYTES])
{
    digest d;
    digest_begin(&d);
    digest_add(&d, data, n);
    digest_end(&d, out);
}

void
digest_print(str *out, const uint8_t d[DIGEST_BYTES])
{
    for (unsigned i = 0; i < DIGEST_BYTES; i++)
        str_addf(out, "%02x", d[i]);
}
