/* A helper of compile_process that does not do its part, as RG_FAKE says. SPDX-License-Identifier: Apache-2.0 */
#include "cache/version.h"
#include "compiler/wire.h"

#include <sys/socket.h>
#include <unistd.h>

static void
hello(const char *version)
{
    str text = {0};
    bytes_put_u32(&text, WIRE_MAGIC);
    bytes_put(&text, rg_str_of(version));
    bytes_put_u32(&text, (uint32_t)getpid());
    if (!wire_send(WIRE_CONTROL, WIRE_HELLO, text.ptr, text.len, 0))
        exit(1);
    str_free(&text);
}

static int
take_socket(void)
{
    char kind, room[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&kind, 1};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    int fd;
    if (recvmsg(WIRE_CONTROL, &packet, 0) <= 0)
        exit(0);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&packet)), sizeof fd);
    return fd;
}

/* What it answers that nobody can read. */
static void
answer(int fd, const char *what)
{
    str text = {0};
    bool whole = strcmp(what, "letter") != 0;
    if (!whole)
        str_addz(&text, "no letter of ours");
    for (int i = 0; i < 3 && strcmp(what, "zeros") == 0; i++)
        bytes_put_u64(&text, 0);
    for (int i = 0; i < 40 && strcmp(what, "noise") == 0; i++)
        bytes_put_u64(&text, hash_u64(5, (uint64_t)i));
    if (strcmp(what, "status") == 0)
        bytes_put_u32(&text, 0);
    if (whole)
        wire_send_whole(fd, str_view(&text), 0);
    else
        wire_send(fd, 'x', text.ptr, text.len, 0);
    str_free(&text);
}

int
main(void)
{
    const char *what = getenv("RG_FAKE");
    if (strcmp(what, "mute") == 0)
        pause();
    if (strcmp(what, "dies") == 0)
        abort();
    for (int i = 0; i < 3 && strcmp(what, "greets wrongly") == 0; i++)
        wire_send(WIRE_CONTROL, WIRE_HELLO, "gibberish", 9, 0);
    if (strcmp(what, "greets wrongly") == 0)
        return 1;
    while (strcmp(what, "endless") == 0 && wire_send(WIRE_CONTROL, 'y', "yyyyyyyyyyyyyyyy", 16, 0))
        ;
    pid_t forked = fork();
    if (forked)
        return forked < 0;
    hello(strcmp(what, "version") == 0 ? "0" : cache_version());
    for (;;) {
        int fd = take_socket();
        if (strcmp(what, "leaves") != 0)
            answer(fd, what);
        close(fd);
    }
}
