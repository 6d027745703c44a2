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
 * Handles own their object, and can be moved but not copied. rg::kernel and rg::array_ref do not own: the rg::module, and the
 * rg::array or rg::args, have to outlive them. get() lends the C handle. A failed call throws rg::error with its status and message.
 * All rules of retrograd.h hold: threads, launches in flight, order of destruction. */
#ifndef RETROGRAD_RETROGRAD_HPP
#define RETROGRAD_RETROGRAD_HPP

#include <retrograd/retrograd.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
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

/* The bits of an IEEE binary16 number. */
struct half {
    std::uint16_t bits;
};

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
template <> struct dtype_of<half> { static constexpr rg_dtype value = RG_F16; };
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

/* What an array does without a queue. */
template <class Self> class array_calls {
public:
    rg_array_info info() const
    {
        rg_array_info i = RG_INIT(rg_array_info);
        check(rg_array_get_info(self(), &i));
        return i;
    }
    /* Other memory of the caller's, from now on. */
    void set_data(void *data) const { check(rg_array_set_data(self(), data)); }
    /* The caller's memory as a derivative plane, of so many directions; nullptr removes the plane. */
    void attach(unsigned plane, void *data) const { check(rg_array_attach(self(), plane, data)); }
    void attach(unsigned plane, void *data, std::uint32_t directions) const
    {
        check(rg_array_attach_directions(self(), plane, data, directions));
    }
    void set_side_by_side(bool on) const { check(rg_array_set_side_by_side(self(), on)); }

private:
    rg_array *self() const { return static_cast<const Self *>(this)->get(); }
};

class array : public handle<rg_array, rg_array_destroy>, public array_calls<array> {
public:
    using handle::handle;
};

/* An array that something else owns. */
class array_ref : public array_calls<array_ref> {
public:
    array_ref(rg_array *p) : p_(p) {}
    array_ref(const array &a) : p_(a.get()) {}
    rg_array *get() const noexcept { return p_; }

private:
    rg_array *p_;
};

/* A plane in host memory until this object ends. Elements of the primal have the array's strides; those of derivatives are dense. */
template <class T> class mapping {
public:
    mapping(array_ref a, unsigned plane, T *data) : array_(a), plane_(plane), data_(data) {}
    mapping(mapping &&other) noexcept : array_(other.array_), plane_(other.plane_), data_(std::exchange(other.data_, nullptr)) {}
    mapping &operator=(mapping &&) = delete;
    ~mapping()
    {
        if (data_)
            rg_array_unmap(array_.get(), plane_);
    }
    T *data() const noexcept { return data_; }
    T &operator[](std::ptrdiff_t i) const noexcept { return data_[i]; }

private:
    array_ref array_;
    unsigned plane_;
    T *data_;
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
    std::vector<rg_param> params() const
    {
        std::vector<rg_param> all(rg_kernel_param_count(p_), RG_INIT(rg_param));
        for (std::size_t k = 0; k < all.size(); k++)
            rg::check(rg_kernel_get_param(p_, static_cast<std::uint32_t>(k), &all[k]));
        return all;
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
    std::vector<std::string> names() const
    {
        const rg_str *all;
        std::size_t n;
        check(rg_module_get_names(get(), &all, &n));
        std::vector<std::string> copies;
        for (std::size_t k = 0; k < n; k++)
            copies.emplace_back(all[k].ptr, all[k].len);
        return copies;
    }
};

class args : public handle<rg_args, rg_args_destroy> {
public:
    using handle::handle;
    args &&set(std::string_view name, array_ref a) && { return std::move(set(name, a)); }
    args &set(std::string_view name, array_ref a) &
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
    /* A scalar whose value follows from the extents of the arrays that are set. */
    args &infer(std::string_view name)
    {
        check(rg_args_infer(get(), str(name)));
        return *this;
    }
    /* An array of one element, whose derivative planes are those of a float scalar. */
    args &set_companion(std::string_view name, array_ref a)
    {
        check(rg_args_set_companion(get(), str(name), a.get()));
        return *this;
    }
    array_ref get_array(std::string_view name) const
    {
        rg_array *a;
        check(rg_args_get_array(get(), str(name), &a));
        return array_ref(a);
    }
    /* The shape that a parameter must have; -1: any extent. */
    std::vector<std::int64_t> shape_of(const kernel &k, std::string_view name) const
    {
        std::uint32_t index;
        std::int64_t shape[RG_MAX_RANK];
        check(rg_kernel_find_param(k.get(), str(name), &index));
        check(rg_args_get_shape(get(), index, shape));
        return std::vector<std::int64_t>(shape, shape + k.params()[index].rank);
    }
};

class graph : public handle<rg_graph, rg_graph_destroy> {
public:
    using handle::handle;
    void launch() const { check(rg_graph_launch(get())); }
};

/* Exceptions of functions that a tape calls come out of the call or vjp() that ran them. */
class tape : public handle<rg_tape, rg_tape_destroy> {
public:
    using handle::handle;
    void vjp() const { passed_on(rg_tape_vjp(get())); }
    rg_tape_info info() const
    {
        rg_tape_info i = RG_INIT(rg_tape_info);
        check(rg_tape_get_info(get(), &i));
        return i;
    }
    void pause() const { check(rg_tape_pause(get())); }
    void resume() const { check(rg_tape_resume(get())); }
    void stop_gradient(array_ref a) const { check(rg_tape_stop_gradient(get(), a.get())); }

    /* A host function with its own reverse (rg_tape_call_desc), as one operation. The tape keeps both functions. */
    void call(std::string_view name, const std::vector<array_ref> &reads, const std::vector<array_ref> &writes,
              std::function<void()> forward, std::function<void()> reverse)
    {
        rg_tape_call_desc d = RG_INIT(rg_tape_call_desc);
        std::vector<rg_array *> in = pointers(reads), out = pointers(writes);
        calls_.push_back(std::make_unique<host_call>(host_call{std::move(forward), std::move(reverse), thrown_.get()}));
        d.name = str(name);
        d.forward = [](void *user) { return static_cast<host_call *>(user)->run(false); };
        d.reverse = [](void *user) { return static_cast<host_call *>(user)->run(true); };
        d.user = calls_.back().get();
        d.reads = in.data();
        d.read_count = in.size();
        d.writes = out.data();
        d.write_count = out.size();
        passed_on(rg_tape_call(get(), &d));
    }

private:
    struct host_call {
        std::function<void()> forward, reverse;
        std::exception_ptr *thrown;
        rg_status run(bool back) noexcept
        {
            try {
                (back ? reverse : forward)();
                return RG_OK;
            } catch (const error &e) {
                *thrown = std::current_exception();
                return e.status();
            } catch (...) {
                *thrown = std::current_exception();
                return RG_CANCELLED;
            }
        }
    };
    static std::vector<rg_array *> pointers(const std::vector<array_ref> &arrays)
    {
        std::vector<rg_array *> all;
        for (array_ref a : arrays)
            all.push_back(a.get());
        return all;
    }
    void passed_on(rg_status status) const
    {
        std::exception_ptr e = std::exchange(*thrown_, nullptr);
        if (status != RG_OK && e)
            std::rethrow_exception(e);
        check(status);
    }
    std::unique_ptr<std::exception_ptr> thrown_ = std::make_unique<std::exception_ptr>();
    std::vector<std::unique_ptr<host_call>> calls_;
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
        d.dtype = dtype_of<T>::value;
        d.rank = rank_of(shape);
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
    template <class C> void write(array_ref a, const C &from, unsigned plane = RG_PRIMAL) const
    {
        using element = std::remove_cv_t<std::remove_reference_t<decltype(*std::data(from))>>;
        same<element>(a);
        check(rg_array_write(get(), a.get(), plane, std::data(from), std::size(from) * sizeof(element)));
    }
    template <class T> std::vector<T> read(array_ref a, unsigned plane = RG_PRIMAL) const
    {
        rg_array_info i = same<T>(a);
        std::vector<T> to(i.count * (plane < RG_PLANE_COUNT && i.directions[plane] ? i.directions[plane] : 1));
        check(rg_array_read(get(), a.get(), plane, to.data(), to.size() * sizeof(T)));
        return to;
    }
    void fill(array_ref a, double value, unsigned plane = RG_PRIMAL) const
    {
        check(rg_array_fill(get(), a.get(), plane, value));
    }
    void copy(array_ref to, unsigned to_plane, array_ref from, unsigned from_plane) const
    {
        check(rg_array_copy(get(), to.get(), to_plane, from.get(), from_plane));
    }
    void launch(const args &a, rg_form form = RG_FORWARD) const { check(rg_launch(get(), a.get(), form)); }
    /* A derivative plane, zeroed, if there is none; of so many directions. */
    void require(array_ref a, unsigned plane) const { check(rg_array_require(get(), a.get(), plane)); }
    void require(array_ref a, unsigned plane, std::uint32_t directions) const
    {
        check(rg_array_require_directions(get(), a.get(), plane, directions));
    }
    /* T const: only to read. */
    template <class T> mapping<T> map(array_ref a, unsigned plane = RG_PRIMAL) const
    {
        void *data;
        same<std::remove_const_t<T>>(a);
        check(rg_array_map(get(), a.get(), plane, !std::is_const_v<T>, &data));
        return mapping<T>(a, plane, static_cast<T *>(data));
    }
    /* Parameters `name.field` from structs in the caller's memory (rg_args_set_records), and back. */
    template <class T> void set_records(args &to, std::string_view name, T *data, const std::vector<std::int64_t> &shape) const
    {
        check(rg_args_set_records(get(), to.get(), str(name), data, rank_of(shape), shape.data(), nullptr));
    }
    template <class T> void read_records(const args &from, std::string_view name, T *data, const std::vector<std::int64_t> &shape) const
    {
        check(rg_args_read_records(get(), from.get(), str(name), data, rank_of(shape), shape.data(), nullptr));
    }
    void sync() const { check(rg_queue_sync(get())); }
    void cancel() const noexcept { rg_queue_cancel(get()); }
    void set_stream(void *stream) const { check(rg_queue_set_stream(get(), stream)); }
    std::uint64_t tape_peak() const noexcept { return rg_queue_tape_peak(get()); }
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

    /* Runs work(), or work(tape &), and records its launches, fills, writes and copies on a tape. `budget`: that of rg_tape_desc. */
    template <class F> tape record_tape(F &&work, std::uint64_t budget = 0) const
    {
        rg_tape_desc desc = RG_INIT(rg_tape_desc);
        desc.budget = budget;
        return record_tape(std::forward<F>(work), desc);
    }
    template <class F> tape record_tape(F &&work, const rg_tape_desc &desc) const
    {
        rg_tape *t;
        check(rg_tape_begin(get(), &desc, &t));
        tape made(t);
        if constexpr (std::is_invocable_v<F, tape &>)
            work(made);
        else
            work();
        check(rg_tape_end(t));
        return made;
    }

private:
    static std::uint32_t rank_of(const std::vector<std::int64_t> &shape)
    {
        if (shape.size() > RG_MAX_RANK)
            throw error(RG_INVALID, "an array has at most 8 axes");
        return static_cast<std::uint32_t>(shape.size());
    }
    template <class T> static rg_array_info same(array_ref a)
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
    /* Where a plane of another device's array is for this one. */
    void *reach(array_ref a, unsigned plane) const
    {
        void *data;
        check(rg_array_reach(a.get(), plane, get(), &data));
        return data;
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
