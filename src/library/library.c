/* The math library's functions in IR, for code generation. SPDX-License-Identifier: Apache-2.0
 *
 * A kernel uses few of them: each is parsed when it is asked for, with the slow paths that it calls. */
#include "library/library.h"

#include "library/rare.h"
#include "library/text.h"
#include "opt/pass.h"

static const math_text *
find_text(rg_str name)
{
    for (const math_text *t = math_texts; t->name; t++)
        if (strlen(t->name) == name.len && memcmp(t->name, name.ptr, name.len) == 0)
            return t;
    return NULL;
}

/* a function's text, and that of what it calls which is not in `out` yet */
static void
collect(str *out, const math_text *t)
{
    static const char call[] = " = call @";
    str_add(out, (rg_str){(const char *)t->text, t->size});
    const char *at = (const char *)t->text;
    while ((at = strstr(at, call))) {
        at += sizeof call - 1;
        rg_str name = {at, strcspn(at, "(")};
        str definition = {0};
        str_addf(&definition, "func @%.*s(", (int)name.len, name.ptr);
        const math_text *callee = find_text(name);
        if (callee && !strstr(out->ptr, definition.ptr))
            collect(out, callee);
        str_free(&definition);
    }
}

static ir_module *
parse(const char *name)
{
    const math_text *t = find_text(rg_str_of(name));
    if (!t)
        return NULL;
    str text = {.in = mem_scratch()};
    diag_list diags = {0};
    collect(&text, t);
    ir_module *m = ir_parse(str_view(&text), "math", &diags);
    assert(m && "text of ours parses");
    diag_free(&diags);
    return m;
}

static ir_module *
module_of(math_library *lib, const char *name)
{
    for (size_t i = 0; i < lib->modules.n; i++)
        if (strcmp(lib->modules.at[i]->first->name, name) == 0)
            return lib->modules.at[i];
    ir_module *m = parse(name);
    if (m)
        vec_push(&lib->modules, m);
    return m;
}

const ir_fn *
math_find(math_library *lib, const char *name, unsigned lanes, arena *scratch)
{
    ir_module *m = module_of(lib, name);
    if (!m)
        return NULL;
    if (!lanes)
        return m->first;
    const ir_fn *last = m->last;
    ir_fn *made = lower_lanes_function(m, m->first, lanes, scratch);
    if (m->last != last) /* not found, but made */
        math_choose_in_slow_paths(made, scratch);
    return made;
}

void
math_library_free(math_library *lib)
{
    for (size_t i = 0; i < lib->modules.n; i++)
        ir_module_free(lib->modules.at[i]);
    vec_free(&lib->modules);
}
