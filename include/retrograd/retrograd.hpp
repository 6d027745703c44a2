/* Retrograd for C++17: owning handles and exceptions. SPDX-License-Identifier: Apache-2.0
 *
 *     rg::device device = rg::device::open("cpu");
 *     rg::queue queue = device.make_queue();
 *     rg::module module = rg::module::load("kernels.c");
 *     rg::kernel relax = module.get_kernel("relax");
 *     rg::array x = queue.make_array<float>({n}, rg::adjoint);
 *     queue.write(x, values);                          // any contiguous container of float
 *     rg::args args = queue.make_args(relax).set("n", n).set("x", x).set("loss", loss);
 *     queue.fill(loss, 1, RG_ADJOINT);
 *     queue.launch(args, RG_FORWARD_VJP);
 *     std::vector<float> slope = queue.read<float>(x, RG_ADJOINT);
 *
 * Handles own their object, and can be moved but not copied. An rg::kernel is not owning: its rg::module has to outlive it. get()
 * lends the C handle, for C functions that have no wrapper here. A failed call throws rg::error with its status and message.
 * All rules of retrograd.h hold: threads, launches in flight, order of destruction. */
#ifndef RETROGRAD_RETROGRAD_HPP
#define RETROGRAD_RETROGRAD_HPP

#include <retrograd/retrograd.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rg {

class error : public std::runtime_error {
public:
    error(rg_status s, const char *message) : std::runtime_error(message), status_(s) {}
    rg_status status() const noexcept { return status_; }

private:
    rg_status status_;
};

inline void
check(rg_status status)
{
    if (status != RG_OK)
        throw error(status, rg_error_message());
}

inline rg_str
str(std::string_view s)
{
    return rg_str{s.data(), s.size()};
}

/* The rg_dtype of a C++ type. */
template <class T> struct dtype_of;
template <> struct dtype_of<bool> { static constexpr rg_dtype value = RG_BOOL; };
template <> struct dtype_of<std::int8_t> { static constexpr rg_dtype value = RG_I8; };
template <> struct dtype_of<std::uint8_t> { static constexpr rg_dtype value = RG_U8; };
template <> struct dtype_of<std::int16_t> { static constexpr rg_dtype value = RG_I16; };
template <> struct dtype_of<std::uint16_t> { static constexpr rg_dtype value = RG_U16; };
template <> struct dtype_of<std::int32_t> { static constexpr rg_dtype value = RG_I32; };
template <> struct dtype_of<std::uint32_t> { static constexpr rg_dtype value = RG_U32; };
template <> struct dtype_of<std::int64_t> { static constexpr rg_dtype value = RG_I64; };
template <> struct dtype_of<std::uint64_t> { static constexpr rg_dtype value = RG_U64; };
template <> struct dtype_of<float> { static constexpr rg_dtype value = RG_F32; };
template <> struct dtype_of<double> { static constexpr rg_dtype value = RG_F64; };

/* Destroys the object that it owns. */
template <class T, void (*destroy)(T *)> class handle {
public:
    handle() = default;
    explicit handle(T *p) : p_(p) {}
    T *get() const noexcept { return p_.get(); }
    explicit operator bool() const noexcept { return p_ != nullptr; }

private:
    struct end {
        void operator()(T *p) const noexcept { destroy(p); }
    };
    std::unique_ptr<T, end> p_;
};

/* The derivative planes that an array is created with; | combines them. */
enum companions : unsigned { none = 0, adjoint = 1u << RG_ADJOINT, tangent = 1u << RG_TANGENT };
inline companions
operator|(companions a, companions b)
{
    return static_cast<companions>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

class array : public handle<rg_array, rg_array_destroy> {
public:
    using handle::handle;
    rg_array_info info() const
    {
        rg_array_info i = RG_INIT(rg_array_info);
        check(rg_array_get_info(get(), &i));
        return i;
    }
};

/* Code of a kernel, as bytes. The views are valid as long as the object. */
class object : public handle<rg_object, rg_object_destroy> {
public:
    using handle::handle;
    std::string_view code() const { return view(info().code); }
    std::string_view header() const { return view(info().header); }
    rg_object_info info() const
    {
        rg_object_info i = RG_INIT(rg_object_info);
        check(rg_object_get_info(get(), &i));
        return i;
    }

private:
    static std::string_view view(rg_str s) { return std::string_view(s.ptr ? s.ptr : "", s.len); }
};

/* The results of a check. Texts of the findings are valid as long as the report. */
class report : public handle<rg_report, rg_report_destroy> {
public:
    using handle::handle;
    rg_outcome outcome() const { return info().outcome; }
    std::vector<rg_finding> findings() const
    {
        std::vector<rg_finding> all(info().findings, RG_INIT(rg_finding));
        for (std::size_t k = 0; k < all.size(); k++)
            check(rg_report_get_finding(get(), static_cast<std::uint32_t>(k), &all[k]));
        return all;
    }

private:
    rg_report_info info() const
    {
        rg_report_info i = RG_INIT(rg_report_info);
        check(rg_report_get_info(get(), &i));
        return i;
    }
};

/* Not owning: valid as long as its module. */
class kernel {
public:
    explicit kernel(rg_kernel *p = nullptr) : p_(p) {}
    rg_kernel *get() const noexcept { return p_; }
    std::string name() const
    {
        rg_str s = rg_kernel_name(p_);
        return std::string(s.ptr ? s.ptr : "", s.len);
    }
    object build(const rg_object_desc *desc = nullptr) const
    {
        rg_object *o;
        rg::check(rg_kernel_build(p_, desc, &o));
        return object(o);
    }
    report check(const rg_check_desc *desc = nullptr) const
    {
        rg_report *r;
        rg::check(rg_kernel_check(p_, desc, &r));
        return report(r);
    }

private:
    rg_kernel *p_;
};

class module : public handle<rg_module, rg_module_destroy> {
public:
    using handle::handle;
    static module load(std::string_view path, const rg_module_desc *desc = nullptr)
    {
        rg_module *m;
        check(rg_module_load(str(path), desc, &m));
        return module(m);
    }
    static module from_c(std::string_view source, const rg_module_desc *desc = nullptr)
    {
        rg_module *m;
        check(rg_module_from_c(str(source), desc, &m));
        return module(m);
    }
    static module from_ir(std::string_view text, const rg_module_desc *desc = nullptr)
    {
        rg_module *m;
        check(rg_module_from_ir(str(text), desc, &m));
        return module(m);
    }
    kernel get_kernel(std::string_view name) const
    {
        rg_kernel *k;
        check(rg_module_get_kernel(get(), str(name), &k));
        return kernel(k);
    }
};

class args : public handle<rg_args, rg_args_destroy> {
public:
    using handle::handle;
    args &&set(std::string_view name, const array &a) && { return std::move(set(name, a)); }
    args &set(std::string_view name, const array &a) &
    {
        check(rg_args_set_array(get(), str(name), a.get()));
        return *this;
    }
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> args &&set(std::string_view name, T value) &&
    {
        return std::move(set(name, value));
    }
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> args &set(std::string_view name, T value) &
    {
        if constexpr (std::is_floating_point_v<T>)
            check(rg_args_set_float(get(), str(name), static_cast<double>(value)));
        else
            check(rg_args_set_int(get(), str(name), static_cast<std::int64_t>(value)));
        return *this;
    }
};

class graph : public handle<rg_graph, rg_graph_destroy> {
public:
    using handle::handle;
    void launch() const { check(rg_graph_launch(get())); }
};

class tape : public handle<rg_tape, rg_tape_destroy> {
public:
    using handle::handle;
    void vjp() const { check(rg_tape_vjp(get())); }
    rg_tape_info info() const
    {
        rg_tape_info i = RG_INIT(rg_tape_info);
        check(rg_tape_get_info(get(), &i));
        return i;
    }
};

class queue : public handle<rg_queue, rg_queue_destroy> {
public:
    using handle::handle;

    template <class T> array make_array(std::initializer_list<std::int64_t> shape, companions with = none) const
    {
        return make_array<T>(std::vector<std::int64_t>(shape), with);
    }
    template <class T> array make_array(const std::vector<std::int64_t> &shape, companions with = none) const
    {
        rg_array_desc d = RG_INIT(rg_array_desc);
        if (shape.size() > RG_MAX_RANK)
            throw error(RG_INVALID, "an array has at most 8 axes");
        d.dtype = dtype_of<T>::value;
        d.rank = static_cast<std::uint32_t>(shape.size());
        for (std::size_t k = 0; k < shape.size(); k++)
            d.shape[k] = shape[k];
        d.adjoint = with & adjoint;
        d.tangent = with & tangent;
        return make_array(d);
    }
    array make_array(const rg_array_desc &desc) const
    {
        rg_array *a;
        check(rg_array_create(get(), &desc, &a));
        return array(a);
    }
    args make_args(const kernel &k) const
    {
        rg_args *a;
        check(rg_args_create(get(), k.get(), &a));
        return args(a);
    }

    /* The container must have the array's element type and number of elements; of a plane with directions, of all of them. */
    template <class C> void write(const array &a, const C &from, unsigned plane = RG_PRIMAL) const
    {
        using element = std::remove_cv_t<std::remove_reference_t<decltype(*std::data(from))>>;
        same<element>(a);
        check(rg_array_write(get(), a.get(), plane, std::data(from), std::size(from) * sizeof(element)));
    }
    template <class T> std::vector<T> read(const array &a, unsigned plane = RG_PRIMAL) const
    {
        rg_array_info i = same<T>(a);
        std::vector<T> to(i.count * (plane < RG_PLANE_COUNT && i.directions[plane] ? i.directions[plane] : 1));
        check(rg_array_read(get(), a.get(), plane, to.data(), to.size() * sizeof(T)));
        return to;
    }
    void fill(const array &a, double value, unsigned plane = RG_PRIMAL) const
    {
        check(rg_array_fill(get(), a.get(), plane, value));
    }
    void copy(const array &to, unsigned to_plane, const array &from, unsigned from_plane) const
    {
        check(rg_array_copy(get(), to.get(), to_plane, from.get(), from_plane));
    }
    void launch(const args &a, rg_form form = RG_FORWARD) const { check(rg_launch(get(), a.get(), form)); }
    void sync() const { check(rg_queue_sync(get())); }
    void wait(const queue &other) const { check(rg_queue_wait(get(), other.get())); }

    /* Records the launches, fills and copies of work() as a graph. */
    template <class F> graph record(F &&work) const
    {
        rg_graph *g;
        check(rg_graph_begin(get()));
        try {
            work();
        } catch (...) {
            if (rg_graph_end(get(), &g) == RG_OK)
                rg_graph_destroy(g);
            throw;
        }
        check(rg_graph_end(get(), &g));
        return graph(g);
    }

    /* Runs work() and records its launches, fills, writes and copies on a tape. `budget`: that of rg_tape_desc. */
    template <class F> tape record_tape(F &&work, std::uint64_t budget = 0) const
    {
        rg_tape *t;
        rg_tape_desc desc = RG_INIT(rg_tape_desc);
        desc.budget = budget;
        check(rg_tape_begin(get(), &desc, &t));
        tape made(t);
        work();
        check(rg_tape_end(t));
        return made;
    }

private:
    template <class T> static rg_array_info same(const array &a)
    {
        rg_array_info i = a.info();
        if (i.dtype != dtype_of<T>::value)
            throw error(RG_INVALID, (std::string("the array's elements are ") + rg_dtype_name(i.dtype) + ", not " +
                                     rg_dtype_name(dtype_of<T>::value))
                                        .c_str());
        return i;
    }
};

class device : public handle<rg_device, rg_device_destroy> {
public:
    using handle::handle;
    /* "cpu", "cuda:1", ...; empty: the default of rg_device_desc */
    static device open(std::string_view name = {})
    {
        rg_device_desc d = RG_INIT(rg_device_desc);
        d.name = str(name);
        rg_device *p;
        check(rg_device_open(&d, &p));
        return device(p);
    }
    queue make_queue(const rg_queue_desc *desc = nullptr) const
    {
        rg_queue *q;
        check(rg_queue_create(get(), desc, &q));
        return queue(q);
    }
    rg_device_info info() const
    {
        rg_device_info i = RG_INIT(rg_device_info);
        check(rg_device_get_info(get(), &i));
        return i;
    }
    void compile(const kernel &k, rg_form form) const
    {
        rg_compile_desc d = RG_INIT(rg_compile_desc);
        d.form = form;
        check(rg_kernel_compile(k.get(), get(), &d));
    }
};

/* All devices that this process can open. */
inline std::vector<rg_device_info>
devices()
{
    std::vector<rg_device_info> all;
    rg_device_info i = RG_INIT(rg_device_info);
    while (rg_device_enumerate(static_cast<std::uint32_t>(all.size()), &i) == RG_OK)
        all.push_back(i);
    return all;
}

} // namespace rg

#endif
