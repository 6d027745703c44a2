/* Functions of omp.h. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

bool
fc_is_number_call(const node *n)
{
    return n->kind == E_CALL && n->decl &&
           (strcmp(n->decl->name, "omp_get_thread_num") == 0 || strcmp(n->decl->name, "omp_get_team_num") == 0);
}

static bool function_numbers(decl *fn);

static bool
is_not_number(const node *n, void *user)
{
    if (fc_is_number_call(n) || (n->kind == E_REF && n->decl->numbered))
        return false;
    return n->kind != E_CALL || !n->decl || !function_numbers(n->decl);
}

static bool
function_numbers(decl *fn)
{
    if (!fn->numbers) {
        fn->numbers = 1; /* a cycle is an error elsewhere */
        if (fn->body && !fc_node_walk(fn->body, is_not_number, NULL))
            fn->numbers = 2;
    }
    return fn->numbers == 2;
}

bool
fc_has_number(const gen *g, const node *n)
{
    return g->numbers && n && !fc_node_walk(n, is_not_number, NULL);
}

/* What a team of one thread answers. */
static const struct {
    const char *name;
    int value;
} answers[] = {
    {"get_thread_num", 0},        {"get_num_threads", 1},       {"get_max_threads", 1}, {"get_num_procs", 1},
    {"in_parallel", 0},           {"get_dynamic", 0},           {"get_nested", 0},      {"get_thread_limit", 1},
    {"get_max_active_levels", 1}, {"get_level", 0},             {"get_active_level", 0}, {"get_team_size", 1},
    {"get_ancestor_thread_num", 0}, {"get_num_teams", 1},       {"get_team_num", 0},    {"get_num_devices", 0},
    {"is_initial_device", 1},     {"get_default_device", 0},    {"get_initial_device", 0}, {"in_final", 0},
    {"get_cancellation", 0},      {"get_wtime", 0},             {"get_wtick", 1}};

static const char *const without_effect[] = {"set_num_threads",       "set_dynamic",        "set_nested",
                                             "set_schedule",          "set_default_device", "init_lock",
                                             "set_max_active_levels", "destroy_lock"};

bool
fc_omp_call(gen *g, const node *n, value *out)
{
    const char *name = n->decl->name;
    if (strncmp(name, "omp_", 4) != 0)
        return false;
    name += 4;
    *out = fc_nothing(g, n->type);
    for (size_t i = 0; i < countof(without_effect); i++)
        if (strcmp(name, without_effect[i]) == 0)
            return true;
    if (g->in_thread && fc_is_number_call(n)) {
        fc_fail(g, ERR_OMP_NUMBER, n->place);
        return true;
    }
    for (size_t i = 0; i < countof(answers) && n->type->kind == TYPE_SCALAR; i++) {
        if (strcmp(name, answers[i].name) != 0)
            continue;
        out->scalar = fc_convert(g, n->type->dtype, fc_int_value(g, RG_I32, answers[i].value));
        return true;
    }
    fc_fail(g, ERR_OMP_CALL, n->place, n->decl->name);
    return true;
}
