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
    CHECK(device.reach(x, RG_ADJOINT) == x.info().data[RG_ADJOINT]);
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

static const char steps[] = "struct body { double at; float mass; };\n"
                            "double energy(int n, const struct body b[n], double scale)\n"
                            "{\n"
                            "    double e = 0;\n"
                            "    for (int i = 0; i < n; i++) e += b[i].mass * b[i].at * b[i].at * scale;\n"
                            "    return e;\n"
                            "}\n";

/* Structs, a result, the derivative of a scalar. */
static void
test_records(const rg::queue &queue)
{
    struct body {
        double at;
        float mass;
    } bodies[2] = {{3, 2}, {1, 4}};
    rg::module module = rg::module::from_c(steps);
    CHECK((module.names() == std::vector<std::string>{"energy"}));
    rg::kernel energy = module.get_kernel("energy");
    CHECK(energy.params().size() == 5);
    rg::args args = queue.make_args(energy).set("scale", 0.5);
    rg::array scale = queue.make_array<double>({1}, rg::adjoint);
    queue.set_records(args, "b", bodies, {2});
    args.infer("n").set_companion("scale", scale);
    CHECK((args.shape_of(energy, "b.at") == std::vector<std::int64_t>{2}));
    queue.require(args.get_array("b.at"), RG_ADJOINT);
    queue.require(args.get_array("return"), RG_ADJOINT);
    queue.fill(args.get_array("return"), 1, RG_ADJOINT);
    queue.launch(args, RG_FORWARD_VJP);
    CHECK((queue.read<double>(args.get_array("return")) == std::vector<double>{11}));
    CHECK((queue.read<double>(args.get_array("b.at"), RG_ADJOINT) == std::vector<double>{6, 4}));
    CHECK((queue.read<double>(scale, RG_ADJOINT) == std::vector<double>{22}));
    queue.read_records(args, "b", bodies, {2});
    CHECK(bodies[0].at == 3 && bodies[1].mass == 4);
    CHECK(thrown([&] { queue.set_records(args, "b", bodies, std::vector<std::int64_t>(9, 1)); }, "at most 8 axes") == RG_INVALID);
}

/* Maps, the caller's memory, directions, halves. */
static void
test_planes(const rg::queue &queue)
{
    rg::array x = queue.make_array<double>({2}), h = queue.make_array<rg::half>({1});
    {
        rg::mapping<double> there = queue.map<double>(x);
        there[0] = 3;
        there.data()[1] = 4;
        rg::mapping<double> moved = std::move(there);
        CHECK(moved[1] == 4 && !there.data());
    }
    CHECK((queue.read<double>(x) == std::vector<double>{3, 4}));
    CHECK(queue.map<const double>(x)[0] == 3);
    CHECK(thrown([&] { queue.map<float>(x); }, "elements are f64") == RG_INVALID);
    x.set_side_by_side(true);
    queue.require(x, RG_ADJOINT, 3);
    CHECK(x.info().directions[RG_ADJOINT] == 3 && x.info().side_by_side && queue.read<double>(x, RG_ADJOINT).size() == 6);
    CHECK(thrown([&] { x.set_data(nullptr); }, "the library's") == RG_INVALID);
    x.attach(RG_ADJOINT, nullptr);
    CHECK(!(x.info().planes >> RG_ADJOINT & 1));
    queue.fill(h, 1.5);
    CHECK(queue.read<rg::half>(h)[0].bits == 0x3e00);
    queue.cancel();
    CHECK(queue.tape_peak() == 0);
    CHECK(thrown([&] { queue.set_stream(nullptr); }, "") == RG_INVALID);
}

/* What a tape does with host functions, pauses and constants; exceptions go through. */
static void
test_tape(const rg::queue &queue)
{
    rg::module module = rg::module::from_ir(square);
    rg::kernel kernel = module.get_kernel("square");
    rg::array x = queue.make_array<double>({1}, rg::adjoint), y = queue.make_array<double>({1}, rg::adjoint),
              z = queue.make_array<double>({1}, rg::adjoint), other = queue.make_array<double>({1});
    rg::args args = queue.make_args(kernel).set("n", 1).set("k", 1).set("x", x).set("y", y);
    double host = 0;
    bool fails = false;
    queue.fill(x, 3);
    rg::tape t = queue.record_tape([&](rg::tape &now) {
        queue.launch(args);
        now.call("tenfold", {y}, {z}, [&] { queue.write(z, std::array<double, 1>{queue.read<double>(y)[0] * 10}); },
                 [&] {
                     if (fails)
                         throw std::string("no reverse today");
                     host = queue.read<double>(z, RG_ADJOINT)[0];
                     queue.fill(y, host * 10, RG_ADJOINT);
                     queue.fill(z, 0, RG_ADJOINT);
                 });
        now.pause();
        queue.fill(other, 5);
        now.resume();
    });
    rg::tape moved = std::move(t);
    queue.fill(z, 2, RG_ADJOINT);
    moved.vjp();
    CHECK(host == 2 && queue.read<double>(x, RG_ADJOINT)[0] == 120 && moved.info().operations == 2);
    fails = true;
    bool came = false;
    try {
        moved.vjp();
    } catch (const std::string &text) {
        came = text == "no reverse today";
    }
    CHECK(came);
    CHECK(thrown([&] { queue.record_tape([&](rg::tape &now) { now.call("lost", {x}, {y}, [&] { queue.read<float>(x); }, [] {}); }); },
                 "elements are f64") == RG_INVALID);
    rg::tape last = queue.record_tape([&](rg::tape &now) {
        now.stop_gradient(x);
        queue.launch(args);
    });
    queue.fill(x, 0, RG_ADJOINT);
    queue.fill(y, 1, RG_ADJOINT);
    last.vjp();
    CHECK(queue.read<double>(x, RG_ADJOINT)[0] == 0);
}

static void
test_rest()
{
    rg::device device = rg::device::open("interp");
    rg::queue queue = device.make_queue();
    test_records(queue);
    test_planes(queue);
    test_tape(queue);
}

int
main()
{
    unsigned found = 0;
    test_kernel();
    for (const rg_device_info &d : rg::devices())
        if (std::string(d.name) == "interp" || std::string(d.name) == "cpu") {
            found++;
            test_device(d.name);
        }
    test_rest();
    CHECK(found > 0);
    CHECK(thrown([] { rg::device::open("quantum"); }, "no device") == RG_NOT_FOUND);
    std::printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
