/* The builder: the shapes that variables and jumps become, what they compute, and its errors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir.h"
#include "rt/interp/interp.h"

#include <setjmp.h>
#include <time.h>

static int failures;
#define CHECK(condition)                                                                           \
    ((condition) ? (void)0                                                                         \
                 : (failures++, (void)printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)))

/* -- one function under construction ----------------------------------------------------------- */

static rg_builder *b;
static rg_value n; /* its parameter */

static rg_value
num(int64_t value)
{
    return rg_build_int(b, RG_I32, value);
}

static rg_value
get(rg_var var)
{
    return rg_build_get(b, var);
}

static rg_value
add(rg_value x, rg_value y)
{
    return rg_build_2(b, RG_OP_ADD, x, y);
}

static rg_value
compare(rg_value x, rg_op op, rg_value y)
{
    return rg_build_2(b, op, x, y);
}

static rg_var
variable(const char *name, rg_value start)
{
    rg_var var = rg_build_var(b, rg_str_of(name), (rg_type){RG_I32, 0});
    if (start)
        rg_build_set(b, var, start);
    return var;
}

static void
increase(rg_var var, rg_value by)
{
    rg_build_set(b, var, add(get(var), by));
}

static void
leave_where(rg_value condition, rg_label label)
{
    rg_build_if(b, condition);
    rg_build_leave(b, label);
    rg_build_end(b);
}

static void
begin(void)
{
    b = ir_builder_new();
    rg_build_kernel_begin(b, RG_STR("f"));
    n = rg_build_param_scalar(b, RG_STR("n"), RG_I32, (rg_place){0});
}

static ir_module *
finish(rg_value result)
{
    if (result)
        rg_build_kernel_result(b, 1, &result);
    rg_build_kernel_end(b);
    diag_list diags = {0};
    ir_module *m = ir_builder_take(b, &diags);
    if (!m) {
        failures++;
        printf("%s\n", diags.text.ptr);
    }
    diag_free(&diags);
    rg_builder_destroy(b);
    return m;
}

/* The body's text must be this, line by line. */
static void
expect_text(int line, ir_module *m, const char *body)
{
    str text = {0};
    if (m)
        ir_print_module(&text, m);
    const char *start = text.ptr ? strchr(text.ptr, '\n') + 1 : "";
    if (strncmp(start, body, strlen(body)) != 0 || strcmp(start + strlen(body), "}\n") != 0) {
        failures++;
        printf("%s:%d: expected\n%sgot\n%s\n", __FILE__, line, body, start);
    }
    str_free(&text);
    ir_module_free(m);
}
#define EXPECT_TEXT(m, body) expect_text(__LINE__, (m), (body))

static int32_t
run(const ir_module *m, int32_t parameter)
{
    int32_t result = 0;
    rt_arg args[2] = {{.bits = (uint32_t)parameter}, {.plane = {&result}}};
    interp_report report = {0};
    rt_fault fault =
        m ? interp_run(m->first, args, &(interp_options){.step_limit = 1000000}, &report)
          : RT_FAULT_ASSERT;
    if (fault != RT_OK) {
        failures++;
        printf("run: %s\n", report.message);
    }
    return result;
}

/* -- shapes ------------------------------------------------------------------------------------ */

static void
test_while(void)
{
    begin();
    rg_var i = variable("i", num(0)), s = variable("s", num(0)), unused = variable("u", num(7));
    rg_label loop = rg_build_loop(b);
    rg_build_leave_if(b, compare(get(i), RG_OP_GE, n), loop);
    rg_build_block(b);
    increase(s, rg_build_2(b, RG_OP_MUL, get(i), get(unused)));
    rg_build_end(b);
    increase(i, num(1));
    rg_build_end(b);
    EXPECT_TEXT(finish(get(s)), "  %0: i32 = const 0\n"
                                "  %1: i32 = const 7\n"
                                "  %2: i32 = const 1\n"
                                "  %i: i32, %s: i32 = loop (%i.1: i32 = %0, %s.1: i32 = %0) {\n"
                                "    %3: bool = ge %i.1, %n\n"
                                "    exit_if %3 (%i.1, %s.1)\n"
                                "    %4: i32 = mul %i.1, %1\n"
                                "    %s.2: i32 = add %s.1, %4\n"
                                "    %i.2: i32 = add %i.1, %2\n"
                                "    yield %i.2, %s.2\n"
                                "  }\n"
                                "  yield %s\n");
}

/* `if (c) break;` is a bare exit; what only the exit changes is not carried */
static void
test_break(void)
{
    begin();
    rg_var found = variable("found", num(-1)), i = variable("i", num(0));
    rg_label loop = rg_build_loop(b);
    leave_where(compare(get(i), RG_OP_GE, n), loop);
    rg_build_if(b, compare(get(i), RG_OP_EQ, num(5)));
    rg_build_set(b, found, get(i));
    rg_build_leave(b, loop);
    rg_build_end(b);
    increase(i, num(2));
    rg_build_end(b);
    EXPECT_TEXT(finish(get(found)), "  %0: i32 = const -1\n"
                                    "  %1: i32 = const 0\n"
                                    "  %2: i32 = const 5\n"
                                    "  %3: i32 = const 2\n"
                                    "  %i: i32, %found: i32 = loop (%i.1: i32 = %1) {\n"
                                    "    %4: bool = ge %i.1, %n\n"
                                    "    exit_if %4 (%i.1, %0)\n"
                                    "    %5: bool = eq %i.1, %2\n"
                                    "    %found.1: i32 = if %5 {\n"
                                    "      yield %i.1\n"
                                    "    } else {\n"
                                    "      yield %0\n"
                                    "    }\n"
                                    "    exit_if %5 (%i.1, %found.1)\n"
                                    "    %i.2: i32 = add %i.1, %3\n"
                                    "    yield %i.2\n"
                                    "  }\n"
                                    "  yield %found\n");
}

static void
test_do_while(void)
{
    begin();
    rg_var i = variable("i", NULL);
    rg_label loop = rg_build_loop(b);
    increase(i, num(3));
    rg_build_leave_if(b, compare(get(i), RG_OP_GE, n), loop);
    rg_build_end(b);
    EXPECT_TEXT(finish(get(i)), "  %0: i32 = const 3\n"
                                "  %1: i32 = const 0\n"
                                "  %i: i32 = loop (%i.1: i32 = %1) {\n"
                                "    %i.2: i32 = add %i.1, %0\n"
                                "    %2: bool = ge %i.2, %n\n"
                                "    exit_if %2 (%i.2)\n"
                                "    yield %i.2\n"
                                "  }\n"
                                "  yield %i\n");
}

static void
test_for(void)
{
    begin();
    rg_var s = variable("s", num(0));
    rg_value i;
    rg_build_for(b, num(0), n, 2, &i);
    increase(s, i);
    rg_build_end(b);
    EXPECT_TEXT(finish(get(s)), "  %0: i32 = const 0\n"
                                "  %s: i32 = for %1: i32 = %0 to %n step 2 (%s.1: i32 = %0) {\n"
                                "    %s.2: i32 = add %s.1, %1\n"
                                "    yield %s.2\n"
                                "  }\n"
                                "  yield %s\n");
}

/* early return from a function block inside a counted loop */
static void
test_return_in_for(void)
{
    begin();
    rg_var result = variable("r", num(0));
    rg_label function = rg_build_block(b);
    rg_value i;
    rg_build_for(b, num(0), n, 1, &i);
    rg_build_if(b, compare(i, RG_OP_GT, num(3)));
    rg_build_set(b, result, i);
    rg_build_leave(b, function);
    rg_build_end(b);
    rg_build_end(b);
    rg_build_set(b, result, num(9));
    rg_build_leave(b, function);
    rg_build_set(b, result, num(1000)); /* never runs */
    rg_build_end(b);
    EXPECT_TEXT(finish(get(result)), "  %0: i32 = const 0\n"
                                     "  %1: i32 = const 3\n"
                                     "  %2: bool = const true\n"
                                     "  %3: bool = const false\n"
                                     "  %4: i32 = const 1\n"
                                     "  %5: i32 = const 9\n"
                                     "  %r: i32, %6: bool = loop (%7: i32 = %0) {\n"
                                     "    %8: bool = ge %7, %n\n"
                                     "    exit_if %8 (%0, %3)\n"
                                     "    %9: bool = gt %7, %1\n"
                                     "    %r.1: i32 = if %9 {\n"
                                     "      yield %7\n"
                                     "    } else {\n"
                                     "      yield %0\n"
                                     "    }\n"
                                     "    exit_if %9 (%r.1, %2)\n"
                                     "    %10: i32 = add %7, %4\n"
                                     "    yield %10\n"
                                     "  }\n"
                                     "  %r.2: i32 = if %6 {\n"
                                     "    yield %r\n"
                                     "  } else {\n"
                                     "    yield %5\n"
                                     "  }\n"
                                     "  yield %r.2\n");
}

/* cases that end with break: a chain of ifs, and no flag */
static void
test_switch(void)
{
    begin();
    rg_var s = variable("s", num(0));
    rg_label block = rg_build_block(b);
    for (int k = 1; k < 3; k++) {
        rg_build_if(b, compare(n, RG_OP_EQ, num(k)));
        rg_build_set(b, s, num(10 * k));
        rg_build_leave(b, block);
        rg_build_end(b);
    }
    rg_build_set(b, s, num(99));
    rg_build_end(b);
    EXPECT_TEXT(finish(get(s)), "  %0: i32 = const 1\n"
                                "  %1: i32 = const 10\n"
                                "  %2: i32 = const 2\n"
                                "  %3: i32 = const 20\n"
                                "  %4: i32 = const 99\n"
                                "  %5: bool = eq %n, %0\n"
                                "  %s: i32 = if %5 {\n"
                                "    yield %1\n"
                                "  } else {\n"
                                "    %6: bool = eq %n, %2\n"
                                "    %s.1: i32 = if %6 {\n"
                                "      yield %3\n"
                                "    } else {\n"
                                "      yield %4\n"
                                "    }\n"
                                "    yield %s.1\n"
                                "  }\n"
                                "  yield %s\n");
}

/* do { ... if (c) break; ... } while (0) is no loop */
static void
test_once(void)
{
    begin();
    rg_var s = variable("s", num(1));
    rg_label loop = rg_build_loop(b);
    rg_build_block(b);
    increase(s, n);
    rg_build_end(b);
    rg_build_leave_if(b, rg_build_int(b, RG_BOOL, 1), loop);
    rg_build_end(b);
    EXPECT_TEXT(finish(get(s)), "  %0: i32 = const 1\n"
                                "  %s: i32 = add %0, %n\n"
                                "  yield %s\n");
}

static void
test_known_conditions(void)
{
    begin();
    rg_var s = variable("s", n);
    rg_build_if(b, compare(num(1), RG_OP_LT, num(2)));
    increase(s, num(1));
    rg_build_else(b);
    increase(s, num(2));
    rg_build_end(b);
    rg_build_if(b, compare(num(2), RG_OP_LT, num(1)));
    increase(s, num(3));
    rg_build_end(b);
    rg_build_if(b, compare(n, RG_OP_LT, num(1)));
    rg_build_end(b);
    EXPECT_TEXT(finish(get(s)), "  %0: i32 = const 1\n"
                                "  %s: i32 = add %n, %0\n"
                                "  %1: bool = lt %n, %0\n"
                                "  yield %s\n");
}

static void
test_array_in_loop(void)
{
    begin();
    rg_var a = rg_build_var(b, RG_STR("a"), (rg_type){RG_I32, 4});
    rg_value i;
    rg_build_for(b, num(0), n, 1, &i);
    rg_value at = rg_build_2(b, RG_OP_AND, i, num(3));
    rg_build_if(b, compare(i, RG_OP_GT, num(1)));
    rg_build_set(b, a, rg_build_insert(b, get(a), at, i));
    rg_build_end(b);
    rg_build_end(b);
    ir_module *m = finish(rg_build_extract(b, get(a), num(3)));
    CHECK(run(m, 3) == 0 && run(m, 4) == 3 && run(m, 8) == 7);
    ir_module_free(m);
}

static int32_t
nested_jumps(int32_t count)
{
    int32_t s = 0;
    for (int32_t i = 0; i < count; i++) {
        bool next = false;
        for (int32_t j = 0; j < 10 && !next; j++) {
            if (j > i) {
                next = true;
                continue;
            }
            if (i + j == 9)
                return s;
            if (s > 2000) {
                if (j == 1)
                    return s;
                s += 100;
            }
            s += i + j;
        }
        s += 1000;
    }
    return s;
}

/* continue of the outer loop, break out of it and return, all from the inner one */
static void
test_nested_jumps(void)
{
    begin();
    rg_var s = variable("s", num(0));
    rg_label function = rg_build_block(b);
    rg_value i, j;
    rg_label outer = rg_build_for(b, num(0), n, 1, &i);
    rg_label next = rg_build_block(b);
    rg_build_for(b, num(0), num(10), 1, &j);
    leave_where(compare(j, RG_OP_GT, i), next);
    leave_where(compare(add(i, j), RG_OP_EQ, num(9)), outer);
    rg_build_if(b, compare(get(s), RG_OP_GT, num(2000)));
    leave_where(compare(j, RG_OP_EQ, num(1)), function);
    increase(s, num(100));
    rg_build_end(b);
    increase(s, add(i, j));
    rg_build_end(b);
    rg_build_end(b);
    increase(s, num(1000));
    rg_build_end(b);
    rg_build_end(b);
    ir_module *m = finish(get(s));
    for (int32_t count = 0; count < 9; count++)
        CHECK(run(m, count) == nested_jumps(count));
    ir_module_free(m);
}

/* An index near the end of its type does not wrap when the loop is left early. */
static void
test_for_at_the_end_of_its_type(void)
{
    for (int down = 0; down < 2; down++) {
        begin();
        rg_var trips = variable("trips", num(0));
        rg_value i;
        rg_value lo = num(down ? INT32_MIN + 7 : INT32_MAX - 7);
        rg_label loop = rg_build_for(b, lo, n, down ? -3 : 3, &i);
        leave_where(compare(get(trips), RG_OP_EQ, num(100)), loop);
        increase(trips, num(1));
        rg_build_end(b);
        ir_module *m = finish(get(trips));
        CHECK(run(m, down ? INT32_MIN : INT32_MAX) == 3);
        CHECK(run(m, down ? INT32_MIN + 2 : INT32_MAX - 2) == 2);
        CHECK(run(m, 0) == 0);
        ir_module_free(m);
    }
}

static void
test_reduction(void)
{
    begin();
    rg_var s = variable("s", num(5)), least = variable("least", num(3));
    rg_value lo = num(0), i;
    rg_build_parallel(b, 1, &lo, &n, &i);
    rg_build_reduce(b, s, RG_RMW_ADD);
    rg_build_reduce(b, least, RG_RMW_MIN);
    rg_label thread = rg_build_block(b);
    leave_where(compare(i, RG_OP_EQ, num(2)), thread);
    increase(s, i);
    rg_build_set(b, least, rg_build_2(b, RG_OP_MIN, get(least), rg_build_1(b, RG_OP_NEG, i)));
    rg_build_end(b);
    rg_build_end(b);
    ir_module *m = finish(add(get(s), get(least)));
    CHECK(run(m, 0) == 5 + 3);
    CHECK(run(m, 5) == 5 + 0 + 1 + 3 + 4 - 4);
    ir_module_free(m);
}

static void
test_shape_and_memory(void)
{
    b = ir_builder_new();
    rg_build_kernel_begin(b, RG_STR("f"));
    n = rg_build_param_scalar(b, RG_STR("n"), RG_I32, (rg_place){0});
    rg_build_buffer desc = {.name = RG_STR("x"), .dtype = RG_F32, .rank = 2};
    rg_value x = rg_build_param_buffer(b, &desc);
    rg_build_shape_begin(b);
    rg_build_extent_is(b, x, 1, add(rg_build_cast(b, RG_I64, n), rg_build_int(b, RG_I64, 1)));
    rg_build_shape_end(b);
    rg_value at[2] = {num(0), num(1)};
    rg_build_rmw(b, RG_PRIMAL, RG_RMW_ADD, true, x, 2, at, rg_build_float(b, RG_F32, 2), NULL);
    rg_value old =
        rg_build_rmw(b, RG_PRIMAL, RG_RMW_MAX, false, x, 2, at, rg_build_float(b, RG_F32, 3), NULL);
    rg_build_store(b, RG_ADJOINT, x, 2, at, old);
    rg_build_in_rows(b, true);
    rg_build_store(b, RG_ADJOINT, x, 2, at, rg_build_load(b, RG_PRIMAL, x, 2, at));
    rg_build_kernel_end(b);
    diag_list diags = {0};
    ir_module *m = ir_builder_take(b, &diags);
    rg_builder_destroy(b);
    str text = {0};
    if (m)
        ir_print_module(&text, m);
    CHECK(m && strstr(text.ptr, "shape {\n"));
    CHECK(m && strstr(text.ptr, "  rmw.add.atomic %x["));
    CHECK(m && strstr(text.ptr, ": f32 = rmw.max %x["));
    CHECK(m && strstr(text.ptr, ": f32 = load.row %x[") && strstr(text.ptr, "store.adj.row %x["));
    CHECK(m && m->first->shape && ir_terminator(m->first->shape)->nargs == 2);
    str_free(&text);
    ir_module_free(m);
    diag_free(&diags);
}

static void
test_unset(void)
{
    begin();
    rg_var s = variable("s", NULL);
    CHECK(ir_build_is_unset(b, s));
    CHECK(rg_value_is_const(get(s), NULL));
    CHECK(ir_build_is_unset(b, s));
    rg_build_if(b, compare(n, RG_OP_GT, num(0)));
    rg_build_set(b, s, n);
    CHECK(!ir_build_is_unset(b, s));
    rg_build_else(b);
    CHECK(ir_build_is_unset(b, s));
    rg_build_end(b);
    CHECK(!ir_build_is_unset(b, s));
    ir_module_free(finish(get(s)));
}

/* a variable's array may be changed, a table may not */
static void
test_table(void)
{
    static const int32_t data[4] = {10, 20, 30, 40};
    begin();
    rg_value table = rg_build_table(b, RG_I32, 4, data);
    CHECK(table == rg_build_table(b, RG_I32, 4, data));
    rg_var a = rg_build_var(b, RG_STR("a"), (rg_type){RG_I32, 4});
    rg_build_set(b, a, table);
    rg_build_if(b, compare(n, RG_OP_GT, num(0)));
    rg_build_set(b, a, rg_build_insert(b, get(a), n, num(5)));
    rg_build_end(b);
    rg_value fresh = rg_build_insert(b, table, num(0), num(1));
    rg_value sum = add(rg_build_extract(b, get(a), num(2)), rg_build_extract(b, table, num(2)));
    ir_module *m = finish(add(sum, rg_build_extract(b, fresh, num(0))));
    CHECK(run(m, 0) == 61 && run(m, 2) == 36);
    ir_module_free(m);
}

/* a function with a loop inside, and a kernel that calls it */
static void
test_call(void)
{
    b = ir_builder_new();
    rg_fn root = rg_build_function_begin(b, RG_STR("root"));
    rg_value x = rg_build_param_value(b, RG_STR("x"), (rg_type){RG_I32, 0});
    rg_var r = variable("r", num(0));
    rg_label loop = rg_build_loop(b);
    rg_value square = rg_build_2(b, RG_OP_MUL, get(r), get(r));
    rg_build_leave_if(b, compare(square, RG_OP_GE, x), loop);
    increase(r, num(1));
    rg_build_end(b);
    rg_value result = get(r);
    rg_build_function_end(b, 1, &result);
    rg_build_kernel_begin(b, RG_STR("f"));
    n = rg_build_param_scalar(b, RG_STR("n"), RG_I32, (rg_place){0});
    rg_build_call(b, root, 1, &n, 1, &result);
    rg_build_kernel_result(b, 1, &result);
    rg_build_kernel_end(b);
    diag_list diags = {0};
    ir_module *m = ir_builder_take(b, &diags);
    CHECK(m && !strcmp(m->first->name, "root") && m->first->next->kernel);
    rg_build_kernel_end(b); /* a spent builder only complains */
    CHECK(rg_build_error_count(b) == 1);
    rg_builder_destroy(b);
    ir_module_free(m);
    diag_free(&diags);
}

static rg_fn
product_function(const char *name, uint32_t nparams, uint32_t nresults)
{
    rg_fn fn = rg_build_function_begin(b, rg_str_of(name));
    rg_value product = rg_build_float(b, RG_F64, 1.0), results[4];
    rg_value params[8];
    for (uint32_t i = 0; i < nparams; i++)
        params[i] = rg_build_param_value(b, RG_STR("x"), (rg_type){RG_F64, 0});
    for (uint32_t i = 0; i < nparams; i++)
        product = rg_build_2(b, RG_OP_MUL, product, params[i]);
    for (uint32_t i = 0; i < nresults; i++)
        results[i] = product;
    rg_build_function_end(b, nresults, results);
    return fn;
}

/* functions begun while a kernel is open, in the middle of a loop; calls of their derivatives */
static void
build_derivatives(void)
{
    rg_value i, args[3], results[3];
    rg_build_kernel_begin(b, RG_STR("slopes"));
    n = rg_build_param_scalar(b, RG_STR("n"), RG_I32, (rg_place){0});
    args[0] = args[1] = args[2] = rg_build_param_scalar(b, RG_STR("x"), RG_F64, (rg_place){0});
    rg_var sum = rg_build_var(b, RG_STR("sum"), (rg_type){RG_F64, 0});
    rg_build_for(b, num(0), n, 1, &i);
    rg_fn square = product_function("square", 2, 1);
    rg_build_call_vjp(b, square, 3, args, 3, results);
    rg_build_set(b, sum, rg_build_2(b, RG_OP_ADD, get(sum), results[0]));
    rg_fn cube = product_function("cube", 1, 1);
    rg_fn vjp = product_function("cube_vjp", 3, 1), jvp = product_function("cube_jvp", 3, 1);
    rg_build_own_derivatives(b, cube, vjp, jvp);
    rg_build_call_jvp(b, cube, 2, args, 2, results);
    rg_build_set(b, sum, rg_build_2(b, RG_OP_ADD, get(sum), results[0]));
    rg_build_end(b);
    rg_value result = get(sum);
    rg_build_kernel_result(b, 1, &result);
    rg_build_kernel_end(b);
}

static void
test_derivatives(void)
{
    b = ir_builder_new();
    build_derivatives();
    diag_list diags = {0};
    ir_module *m = ir_builder_take(b, &diags);
    CHECK(m && m->first->kernel && !strcmp(m->last->name, "cube_jvp"));
    ir_fn *cube = m ? ir_fn_find(m, RG_STR("cube")) : NULL;
    CHECK(cube && cube->vjp && !strcmp(cube->jvp->name, "cube_jvp"));
    rg_builder_destroy(b);
    ir_module_free(m);
    diag_free(&diags);
}

/* -- out of memory ----------------------------------------------------------------------------- */

static void
escape(void *jump, size_t bytes)
{
    (void)bytes;
    longjmp(*(jmp_buf *)jump, 1);
}

static void
build_something(void)
{
    rg_build_kernel_begin(b, RG_STR("f"));
    n = rg_build_param_scalar(b, RG_STR("n"), RG_I32, (rg_place){0});
    static rg_var vars[40];
    for (int i = 0; i < 40; i++)
        vars[i] = variable("v", num(i));
    rg_label function = rg_build_block(b);
    rg_value i;
    rg_build_for(b, num(0), n, 1, &i);
    for (int k = 0; k < 200; k++) {
        increase(vars[k % 40], get(vars[(k * 3 + 1) % 40]));
        if (k % 20 == 0)
            leave_where(compare(get(vars[k % 40]), RG_OP_GT, num(k)), function);
    }
    rg_build_end(b);
    rg_build_end(b);
    rg_build_kernel_end(b);
    build_derivatives();
}

/* Whichever allocation fails, the builder can be destroyed. */
static void
test_out_of_memory(void)
{
    static jmp_buf jump;
    for (volatile long nth = 1;; nth++) {
        b = NULL;
        mem_set_handler(escape, &jump);
        if (setjmp(jump)) {
            mem_set_handler(NULL, NULL);
            rg_builder_destroy(b);
            continue;
        }
        mem_fail_after(nth);
        b = ir_builder_new();
        build_something();
        mem_fail_after(0);
        mem_set_handler(NULL, NULL);
        rg_builder_destroy(b);
        CHECK(nth > 8); /* arenas grow: memory is asked for a few times only */
        return;
    }
}

/* -- errors ------------------------------------------------------------------------------------ */

/* Ends the function with an error that the text shows. */
static void
expect_error(int line, const char *text)
{
    rg_build_kernel_end(b);
    diag_list diags = {0};
    ir_module *m = ir_builder_take(b, &diags);
    if (m || !diags.text.ptr || !strstr(diags.text.ptr, text)) {
        failures++;
        printf("%s:%d: expected \"%s\", got\n%s\n", __FILE__, line, text,
               diags.text.ptr ? diags.text.ptr : "nothing");
    }
    ir_module_free(m);
    diag_free(&diags);
    rg_builder_destroy(b);
}
#define EXPECT_ERROR(text) expect_error(__LINE__, (text))

/* x = n > 3 ? n : 7, and a parameter, declared where they are met */
static void
test_declared_late(void)
{
    begin();
    uint32_t depth = rg_build_depth(b);
    rg_build_if(b, compare(n, RG_OP_GT, num(3)));
    rg_build_block(b);
    rg_var x = rg_build_var_at(b, depth, RG_STR("x"), (rg_type){RG_I32, 0});
    rg_build_set(b, x, n);
    rg_build_end(b);
    rg_build_else(b);
    rg_build_set(b, x, num(7));
    rg_build_end(b);
    ir_module *m = finish(get(x));
    CHECK(run(m, 5) == 5 && run(m, 2) == 7);
    ir_module_free(m);

    begin();
    rg_build_var_at(b, 99, RG_STR("x"), (rg_type){RG_I32, 0});
    EXPECT_ERROR("error[E0305]: variable `x` is declared in a construct that is not open");
}

static void
test_errors(void)
{
    begin();
    rg_value sum = add(n, rg_build_float(b, RG_F32, 1));
    CHECK(rg_value_type(sum).dtype == RG_I32);
    EXPECT_ERROR("error[E0301]: `add` does not take i32, f32");

    begin();
    rg_build_loop(b);
    rg_build_end(b);
    EXPECT_ERROR("error[E0303]: this loop never ends");

    begin();
    rg_var s = variable("sum", num(0));
    rg_value lo = num(0), i;
    rg_build_parallel(b, 1, &lo, &n, &i);
    increase(s, i);
    rg_build_end(b);
    EXPECT_ERROR("error[E0302]: `sum` is shared");

    begin();
    rg_label block = rg_build_block(b);
    lo = num(0);
    rg_build_parallel(b, 1, &lo, &n, &i);
    rg_build_leave(b, block);
    rg_build_end(b);
    rg_build_end(b);
    EXPECT_ERROR("error[E0304]: a jump out of a parallel loop");

    begin();
    rg_build_if(b, compare(n, RG_OP_GT, num(0)));
    rg_var inner = variable("inner", num(1));
    rg_build_else(b);
    rg_build_set(b, inner, num(2));
    rg_build_end(b);
    EXPECT_ERROR("error[E0305]: variable `inner`");

    begin();
    rg_build_end(b);
    rg_build_else(b);
    rg_build_loop(b);
    EXPECT_ERROR("error[E0306]: `f` ends with a construct open");

    begin();
    uint32_t file = rg_build_file(b, RG_STR("x.c"), RG_STR("one\ntwo = 2.0\n"));
    rg_build_at(b, (rg_place){file, 2, 1, 4});
    rg_build_set(b, variable("two", NULL), rg_build_float(b, RG_F64, 2));
    EXPECT_ERROR(
        "x.c:2:1: error[E0301]: variable `two` of type i32 cannot hold a value of type f64\n"
        " 2 | two = 2.0\n");
}

/* -- size -------------------------------------------------------------------------------------- */

static double
seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* a hundred thousand ops, a thousand variables, four hundred jumps that nest */
static void
test_large(void)
{
    enum { VARS = 1000, OPS = 100000, JUMPS = 400 };
    double start = seconds();
    begin();
    static rg_var vars[VARS];
    for (int i = 0; i < VARS; i++)
        vars[i] = variable("v", num(i));
    rg_value k;
    rg_build_for(b, num(0), n, 1, &k);
    for (int i = 0; i < OPS; i++)
        increase(vars[i % VARS], get(vars[(i * 7 + 1) % VARS]));
    rg_build_end(b);
    rg_label block = rg_build_block(b);
    for (int i = 0; i < JUMPS; i++) {
        leave_where(compare(n, RG_OP_EQ, num(i)), block);
        increase(vars[i % 10], num(1));
    }
    rg_build_end(b);
    ir_module *m = finish(get(vars[0]));
    double took = seconds() - start;
    CHECK(m && took < 2);
    if (took >= 2)
        printf("100,000 ops took %g s\n", took);
    ir_module_free(m);
}

int
main(void)
{
    test_while();
    test_break();
    test_do_while();
    test_for();
    test_return_in_for();
    test_switch();
    test_once();
    test_known_conditions();
    test_array_in_loop();
    test_nested_jumps();
    test_for_at_the_end_of_its_type();
    test_reduction();
    test_shape_and_memory();
    test_unset();
    test_declared_late();
    test_table();
    test_call();
    test_derivatives();
    test_out_of_memory();
    test_errors();
    test_large();
    return failures ? 1 : 0;
}
