/* The C++ header: what it computes, what it throws, that nothing is left. SPDX-License-Identifier: Apache-2.0 */
#include <retrograd/retrograd.hpp>

#include <array>
#include <cstdio>
#include <cstring>

static int failures, checks;

static void
is_true(bool ok, const char *text, int line)
{
    checks++;
    if (ok)
        return;
    failures++;
    std::printf("hpp_test.cpp:%d: %s\n", line, text);
}
#define CHECK(condition) is_true((condition), #condition, __LINE__)

static const char square[] = "kernel @square(%n: i32, %k: f64, %x: buf<f64,1>, %y: buf<f64,1>) {\n"
                             "  %lo: i32 = const 0\n"
                             "  parallel (%i: i32) = (%lo) to (%n) {\n"
                             "    %v: f64 = load %x[%i]  %w: f64 = mul %v, %v  %r: f64 = mul %w, %k  store %y[%i], %r  yield\n"
                             "  }\n"
                             "  yield\n"
                             "}\n";

/* the status that `call` throws; RG_OK: none */
template <class F> static rg_status
thrown(F call, const char *word)
{
    try {
        call();
    } catch (const rg::error &e) {
        CHECK(std::strstr(e.what(), word) != nullptr);
        return e.status();
    }
    return RG_OK;
}

static void
test_kernel()
{
    rg::module module = rg::module::from_ir(square);
    rg::kernel kernel = module.get_kernel("square");
    rg_check_desc desc = RG_INIT(rg_check_desc);
    desc.device = RG_STR("interp");
    rg::report report = kernel.check(&desc);
    CHECK(report.outcome() == RG_CHECK_SHOWN && report.findings().size() > 5);
    CHECK(std::strcmp(report.findings()[0].test.ptr, "races of threads") == 0);
    desc.device = RG_STR("abacus");
    CHECK(thrown([&] { kernel.check(&desc); }, "no device \"abacus\"") == RG_NOT_FOUND);
    rg_status status = thrown([&] {
        rg::object object = kernel.build();
        CHECK(object.code().size() > 100 && object.header().find("square_forward(") != std::string_view::npos);
        CHECK(object.info().forms == 1u << RG_FORWARD);
    }, "made without LLVM");
    CHECK(status == RG_OK || status == RG_UNSUPPORTED);
}

static void
test_device(const char *name)
{
    rg::device device = rg::device::open(name);
    rg::queue queue = device.make_queue();
    rg::module module = rg::module::from_ir(square);
    rg::kernel kernel = module.get_kernel("square");
    device.compile(kernel, RG_FORWARD_VJP);
    rg::array x = queue.make_array<double>({3}, rg::adjoint | rg::tangent), y = queue.make_array<double>({3}, rg::adjoint);
    queue.write(x, std::array<double, 3>{1, 2, 3});
    rg::args args = queue.make_args(kernel).set("n", 3).set("k", 0.5).set("x", x).set("y", y);
    queue.fill(y, 1, RG_ADJOINT);
    queue.launch(args, RG_FORWARD_VJP);
    CHECK((queue.read<double>(y) == std::vector<double>{0.5, 2, 4.5}));
    CHECK((queue.read<double>(x, RG_ADJOINT) == std::vector<double>{1, 2, 3}));
    rg::graph twice = queue.record([&] {
        queue.copy(x, RG_PRIMAL, y, RG_PRIMAL);
        queue.launch(args);
    });
    twice.launch();
    CHECK((queue.read<double>(y) == std::vector<double>{0.125, 2, 10.125}));
    CHECK(thrown([&] { queue.record([&] { queue.sync(); }); }, "cannot be recorded") == RG_INVALID);
    queue.sync(); /* the recording has ended */
    rg::tape both = queue.record_tape([&] {
        queue.launch(args);
        queue.copy(x, RG_PRIMAL, y, RG_PRIMAL);
        queue.launch(args);
    });
    queue.fill(x, 0, RG_ADJOINT);
    queue.fill(y, 1, RG_ADJOINT);
    both.vjp(); /* x * x * x / 2 */
    CHECK((queue.read<double>(x, RG_ADJOINT) == std::vector<double>{0.0625, 4, 45.5625}) && both.info().operations == 3);
    CHECK(thrown([&] { queue.record_tape([&] { queue.launch(args, RG_FORWARD_VJP); }); }, "another form") == RG_INVALID);
    queue.launch(args, RG_FORWARD_VJP); /* the recording has ended */
    CHECK(thrown([&] { queue.read<float>(y); }, "elements are f64, not f32") == RG_INVALID);
    CHECK(thrown([&] { args.set("z", x); }, "no parameter `z`") == RG_NOT_FOUND);
    CHECK(thrown([&] { module.get_kernel("cube"); }, "there is square") == RG_NOT_FOUND);
    rg::queue moved = std::move(queue);
    CHECK(!queue && moved);
    CHECK(device.info().name == std::string(name) && kernel.name() == "square" && x.info().count == 3);
}

int
main()
{
    unsigned found = 0;
    for (const rg_device_info &d : rg::devices()) {
        bool here = std::string(d.name) == "interp" || std::string(d.name) == "cpu";
        found += here;
        if (here)
            test_kernel();
    test_device(d.name);
    }
    CHECK(found > 0);
    CHECK(thrown([] { rg::device::open("quantum"); }, "no device") == RG_NOT_FOUND);
    std::printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
