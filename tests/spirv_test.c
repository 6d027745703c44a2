/* Kernels as SPIR-V. SPDX-License-Identifier: Apache-2.0
 *
 *   spirv_test [--val PATH|--cross PATH [--take COMMAND]] [--every N] [--refused N] [--deterministic] [--keep FOLDER] FILE.c|FOLDER...
 *
 * Every kernel of the files in every form becomes SPIR-V, for devices that have much, less and little. What is made reads
 * back, and each step names an entry that is there. With --val, the path of spirv-val, every Nth module is validated. With --cross, the
 * path of SPIRV-Cross, the devices are what MoltenVK makes of a GPU of Apple's, and every entry of every Nth module has to become MSL,
 * which the command takes (tests/metal/cross).
 * What is refused is counted, by its reason; more than --refused are a failure. */
#include "codegen/spirv/spirv.h"
#include "each_kernel.h"
#include "pipeline/pipeline.h"

#include <unistd.h>

typedef struct setting {
    const char *val, *cross, *take, *keep;
    int every, refused;
    bool fixed;
} setting;

typedef struct tally {
    const setting *setting;
    int modules, seen, refused, failures; /* seen: by the tool */
    size_t words, entries;
    struct {
        char text[128];
        int n;
    } reasons[16];
} tally;

/* MoltenVK, as its source has it: subgroups are of 32, but cannot be required. How it rounds is tried. */
enum {
    MOLTEN = SPIRV_INT64 | SPIRV_ADDRESSES | SPIRV_MODEL | SPIRV_STORAGE8 | SPIRV_STORAGE16 | SPIRV_ATOMIC_ADD32 | SPIRV_ROUND32 |
             SPIRV_KEEPS32
};
static const struct {
    const char *name;
    spirv_features has;
    bool crosses; /* for --cross alone */
} devices[] = {
    {"much", UINT32_MAX & ~(SPIRV_EXACT32 | SPIRV_EXACT64), false},
    {"no exact fma", SPIRV_INT64 | SPIRV_ADDRESSES | SPIRV_MODEL | SPIRV_FLOAT64 | SPIRV_ATOMIC_INT64 | SPIRV_SUBGROUPS, false},
    {"little", SPIRV_INT64 | SPIRV_ADDRESSES | SPIRV_MODEL | SPIRV_ATOMIC_INT64 | SPIRV_FUSED32, false},
    {"what MoltenVK has", MOLTEN, true},
    {"that and subgroups, rounded right", MOLTEN | SPIRV_SUBGROUPS | SPIRV_EXACT32 | SPIRV_FUSED32, true},
};

static void
fail(tally *t, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    t->failures++;
}

/* the message without its place */
static void
count_refusal(const char *message, tally *t)
{
    const char *reason = strstr(message, "Vulkan: ");
    size_t i = 0, n = strcspn(reason, "\n");
    n = n < sizeof t->reasons[0].text ? n : sizeof t->reasons[0].text - 1;
    while (i < countof(t->reasons) - 1 && t->reasons[i].n && strncmp(t->reasons[i].text, reason, n) != 0)
        i++;
    if (!t->reasons[i].n++)
        memcpy(t->reasons[i].text, reason, n);
    t->refused++;
}

/* what the tool is asked about a module */
static void
add_command(const setting *s, const spirv_code *code, const char *path, str *command)
{
    if (s->val)
        str_addf(command, "%s --target-env vulkan1.2 %s", s->val, path);
    for (uint32_t i = 0; s->cross && i < code->entries; i++) {
        str_addf(command, "%s'%s' %s --msl --msl-version 30000 --stage comp --entry e%u --output %s.metal", i ? " && " : "", s->cross,
                 path, i, path);
        if (s->take)
            str_addf(command, " && %s %s.metal", s->take, path);
    }
}

static void
ask_tool(const setting *s, const char *what, const spirv_code *code, tally *t)
{
    char path[] = "/tmp/spirv_test_XXXXXX.spv";
    str command = {0};
    int file = mkstemps(path, 4);
    if (file < 0 || file_write(path, code->words, code->nwords * sizeof *code->words)) {
        fail(t, what, "cannot be written");
        return;
    }
    add_command(s, code, path, &command);
    fflush(stdout);
    if (system(command.ptr))
        fail(t, what, s->val ? "spirv-val refuses it" : s->take ? "is not translated, or not taken then" : "is not translated");
    t->seen++;
    t->entries += code->entries;
    str_free(&command);
    if (s->keep) {
        str_addf(&command, "cp %s* '%s'", path, s->keep);
        if (system(command.ptr))
            fail(t, what, "cannot be kept");
        str_free(&command);
    }
    str_addf(&command, "%s.metal", path);
    remove(command.ptr);
    remove(path);
    str_free(&command);
    close(file);
}

/* also that what is cut short is seen to be */
static void
check_code(const setting *s, const char *what, const str *bytes, spirv_features has, tally *t)
{
    spirv_code code, cut;
    if (spirv_read((rg_str){bytes->ptr, bytes->len - 1}, &cut))
        fail(t, what, "code that was cut short is read");
    if (!spirv_read(str_view(bytes), &code)) {
        fail(t, what, "cannot be read back");
        return;
    }
    if (code.uses & ~has)
        fail(t, what, "uses what the device lacks");
    if ((s->val || s->cross) && t->modules % s->every == 0)
        ask_tool(s, what, &code, t);
    t->words += code.nwords;
    spirv_code_free(&code);
}

static void
run_device(const setting *s, const ir_fn *fn, const char *form, uint32_t device, tally *t)
{
    str what = {0}, bytes = {0};
    diag_list diags = {0};
    spirv_options options = {.noalias = true, .deterministic = s->fixed, .features = devices[device].has};
    str_addf(&what, "%s %s, a device that has %s", fn->name, form, devices[device].name);
    rg_status status = spirv_make(fn, &options, &bytes, &diags);
    if (status == RG_UNSUPPORTED && diags.text.ptr && strstr(diags.text.ptr, "Vulkan: "))
        count_refusal(diags.text.ptr, t);
    else if (status)
        fail(t, what.ptr, diags.text.ptr ? diags.text.ptr : "fails");
    else
        check_code(s, what.ptr, &bytes, devices[device].has, t);
    t->modules++;
    diag_free(&diags);
    str_free(&bytes);
    str_free(&what);
}

static void
run_form(void *user, const ir_fn *source, rg_form form, const char *path)
{
    tally *t = user;
    const setting *s = t->setting;
    diag_list diags = {0};
    ir_fn *fn;
    (void)path;
    pipeline_options options = {.form = form, .contraction = true, .stage = IR_STAGE_SEGMENTS, .target = &target_segments};
    ir_module *m = pipeline_run(source, &options, &diags, &fn);
    for (uint32_t i = 0; m && i < countof(devices); i++)
        if (devices[i].crosses == (s->cross != NULL))
            run_device(s, fn, pipeline_form_name(form), i, t);
    ir_module_free(m);
    diag_free(&diags);
}

int
main(int argc, char **argv)
{
    setting s = {.every = 1};
    tally t = {.setting = &s};
    each_kernel each = {.run = run_form, .user = &t};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(word, "--val") == 0)
            s.val = value, i++;
        else if (strcmp(word, "--cross") == 0)
            s.cross = value, i++;
        else if (strcmp(word, "--take") == 0)
            s.take = value, i++;
        else if (strcmp(word, "--keep") == 0)
            s.keep = value, i++;
        else if (strcmp(word, "--every") == 0)
            s.every = atoi(value), i++;
        else if (strcmp(word, "--refused") == 0)
            s.refused = atoi(value), i++;
        else if (strcmp(word, "--deterministic") == 0)
            s.fixed = true;
        else
            each_kernel_of(&each, word);
    }
    t.failures += each.failures;
    if (!s.val && !s.cross)
        printf("left out: the validator's word (spirv-val is missing)\n");
    for (size_t i = 0; i < countof(t.reasons) && t.reasons[i].n; i++)
        printf("%4d refused: %s\n", t.reasons[i].n, t.reasons[i].text);
    printf("%d modules of %zu words, %d with %zu entries %s, %d refused, %d failures\n", t.modules, t.words, t.seen, t.entries,
           s.cross ? "translated" : "validated", t.refused, t.failures);
    return t.failures != 0 || t.refused > s.refused;
}
