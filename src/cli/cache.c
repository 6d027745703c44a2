/* rgc cache: what is kept from run to run. SPDX-License-Identifier: Apache-2.0 */
#include "cache/cache.h"
#include "cli/cli.h"

static const char help[] =
    "usage: rgc cache [clear]\n"
    "\n"
    "Says where IR and code are kept from run to run, how many entries there are, and their bytes.\n"
    "\n"
    "  clear   removes them\n"
    "\n"
    "RG_CACHE names the folder (off: nothing is kept; on, or not set: retrograd in XDG_CACHE_HOME, or in\n"
    "~/.cache), RG_CACHE_SIZE the bytes that it may have (as 500M; 1G if it is not set): what was used longest\n"
    "ago goes first. RG_DEBUG=cache tells what is found and what is made.\n";

static int
run(int argc, char **argv)
{
    cli_words positional = {0};
    settings s = settings_read();
    str folder;
    cli_parse(&cli_cache, argc, argv, NULL, 0, &positional);
    bool clear = positional.n == 1 && strcmp(positional.at[0], "clear") == 0;
    if (positional.n && !clear)
        cli_usage_error(&cli_cache, "it takes nothing but `clear`");
    if (!cache_folder(&s, &folder)) {
        printf("nothing is kept%s\n", s.cache ? ": RG_CACHE says so" : "");
        return CLI_OK;
    }
    cache_size size = clear ? cache_clear(&s) : cache_measure(&s);
    printf("folder   %s\n%s  %llu\nbytes    %llu", folder.ptr, clear ? "removed" : "entries", (unsigned long long)size.entries,
           (unsigned long long)size.bytes);
    if (!clear)
        printf(" of at most %llu", (unsigned long long)size.limit);
    printf("\n");
    return CLI_OK;
}

const cli_command cli_cache = {"cache", "what is kept from run to run: where, how much; clear", help, run};
