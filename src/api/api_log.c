/* What modules' logs are told. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "cache/cache.h"


static void
tell_note(void *user, bool warning, const char *text)
{
    const rg_module_desc *code = user;
    rg_event event = RG_DESC(rg_event, .what = warning ? RG_EVENT_WARNING : RG_EVENT_NOTE, .text = rg_str_of(text));
    code->log(code->user, &event);
}

settings
api_settings(const rg_module_desc *code)
{
    settings asked = settings_read();
    if (code->log) {
        asked.told = tell_note;
        asked.told_user = (void *)code;
    }
    asked.apart = code->compile_process;
    if (code->cache.len)
        asked.cache = code->cache.ptr;
    return asked;
}

void
api_tell(const settings *asked, rg_event_kind what, double since, const char *format, ...)
{
    if (!asked->told && !asked->cache_log)
        return;
    str text = {.in = mem_scratch()};
    va_list args;
    va_start(args, format);
    str_addv(&text, format, args);
    va_end(args);
    settings printed = *asked;
    printed.told = NULL;
    cache_log(&printed, "%s %s", what == RG_EVENT_FOUND ? "found" : "made", text.ptr);
    if (!asked->told)
        return;
    const rg_module_desc *code = asked->told_user;
    rg_event event = RG_DESC(rg_event, .what = what, .milliseconds = clock_ms() - since, .text = str_view(&text));
    code->log(code->user, &event);
}
