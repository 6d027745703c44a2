"""`@kernel`: Python functions that are compiled at their first call."""

from __future__ import annotations

import functools
import inspect
import weakref
from typing import Any, Callable

from .. import _core
from .._kernels import Kernel as CompiledKernel
from . import ad
from .annotations import parameters_of
from .build import Build, under
from .compiled import Compiled, result_of
from .errors import CompilationError, RuntimeTypeError, SyntaxError_, TypeError_, locate
from .func import Returns, converter, early, new_frame, resolve
from .guards import Path, entry_of
from .kept import Kept, folder
from .lasting import Description
from .launching import launching
from .parameters import Parameter
from .reads import Reads
from .runtime import cfg, need_init, runtime
from .source import source_of
from .walk import Walker


def walker_of() -> Walker:
    """The walk that is under way in this thread."""
    from .build import current

    walker: Walker = current().walker
    return walker


class Bound(dict["PythonKernel", "PythonKernel"]):
    """The kernels of an object, by those of its class. Copies of the object have kernels of their own."""

    def __init__(self, owner: Any = None) -> None:
        super().__init__()
        self.owner = owner

    def __deepcopy__(self, memo: Any) -> "Bound":
        return Bound()

    def __reduce__(self) -> Any:
        return Bound, ()


_known: weakref.WeakSet[PythonKernel] = weakref.WeakSet()  # those that have compiled something


def _free_all() -> None:
    for kernel in list(_known):
        kernel._free()
    _known.clear()


runtime.at_reset.append(_free_all)


class PythonKernel(_core.Dispatch):
    """A kernel in Python, compiled at its first call for each types of arguments. Made by `kernel`.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> x, y = rg.field(float, 3, needs_grad=True), rg.field(float, (), needs_grad=True)
    >>> @rg.kernel
    ... def squares():
    ...     for i in x:
    ...         y[None] += x[i] ** 2
    """

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[..., Any], owner: Any = None) -> None:
        self.function, self.owner = function, owner
        self.compiled: dict[Any, list[Compiled]] = {}  # by what the arguments are; the newest first
        self.lifted: frozenset[Path] = frozenset()  # numbers of objects that are arguments
        self.fixed: frozenset[Path] = frozenset()  # those that have to be constants
        self.generation = runtime.generation
        functools.update_wrapper(self, function)
        self._parameters: list[Parameter] | None = None

    def __get__(self, instance: Any, owner: Any = None) -> "PythonKernel":
        if instance is None:
            return self
        bound = getattr(instance, "__dict__", {}).get("_retrograd_kernels")
        if bound is None or bound.owner is not instance:
            bound = Bound(instance)
            try:
                object.__setattr__(instance, "_retrograd_kernels", bound)
            except (AttributeError, TypeError):  # no room for it: compiled at each call
                pass
        if self not in bound:
            bound[self] = PythonKernel(self.function, instance)
        return bound[self]

    def __repr__(self) -> str:
        return f"<rg.kernel {self.__qualname__}>"

    @property
    def parameters(self) -> list[Parameter]:
        """The arguments that a call takes."""
        if self._parameters is None:
            try:
                self._parameters = parameters_of(self.function, self.owner is not None)
            except CompilationError as error:
                source = source_of(self.function)
                raise locate(error, source.place(source.tree)) from error
        return self._parameters

    def inline(self, walker: Any, node: Any) -> Any:
        """A call in a kernel."""
        raise SyntaxError_(f"a kernel cannot call another kernel: make `{self.__name__}` a @func")

    # -- launches ------------------------------------------------------------------------------------------------------

    def _call(self, *args: Any, **named: Any) -> Any:
        """A call that is not like an earlier one."""
        args = self.arguments(args, named)
        if launching.handlers:
            return launching.handlers[-1].launch(self, args)
        compiled = self.compile(args)
        result = compiled.run(args)
        if not compiled.entered and not cfg.kernel_profiler:
            compiled.entered = True
            entry = entry_of(self.parameters, args, compiled)
            if entry is not None:
                self._enter(entry)
        return result

    def grad(self, *args: Any, **named: Any) -> None:
        """The reverse of one launch, from the arrays as they stand.

        It adds to the adjoints (`grad`) of what the kernel reads, and uses up those of what it overwrites. It writes no values, and needs no
        launch before it. Arrays without an adjoint are constants.
        """
        ad.reverse(self, self.arguments(args, named))

    def grad_scalars(self, *args: Any, **named: Any) -> dict[str, Any]:
        """The same, and the derivatives with respect to the kernel's scalar arguments.

        Returns
        -------
        dict by name
            Of floats; of a vector or matrix a vector or matrix, of a struct a dict.

        Examples
        --------
        >>> import retrograd as rg
        >>> rg.init()
        >>> y = rg.field(float, 3, needs_grad=True)
        >>> @rg.kernel
        ... def scale(a: float):
        ...     for i in y:
        ...         y[i] = a * a * i
        >>> y.grad.fill(1)
        >>> scale.grad_scalars(2.0)
        {'a': 12.0}
        """
        return ad.grad_scalars(self, self.arguments(args, named))

    def forward_grad(self, *args: Any, **named: Any) -> Any:
        """The launch and its reverse in one, of kernels that overwrite what their reverse needs, too."""
        return ad.forward_grad(self, self.arguments(args, named))

    def jvp(self, *args: Any, **named: Any) -> Any:
        """The launch, and the tangents (`dual`) of what it writes from those of what it reads."""
        return ad.jvp(self, self.arguments(args, named))

    def hvp(self, *args: Any, **named: Any) -> Any:
        """The launch and its reverse, and the derivative of both along the tangents: a product with the Hessian.

        Where `forward_grad` adds a gradient to `x.grad`, this also adds the derivative of that gradient along all `dual`s to `x.grad.dual`.

        Examples
        --------
        >>> import retrograd as rg
        >>> rg.init()
        >>> x, y = rg.field(float, 2, needs_grad=True, needs_dual=True), rg.field(float, (), needs_grad=True)
        >>> @rg.kernel
        ... def product():
        ...     y[None] = x[0] ** 2 * x[1]
        >>> x.from_numpy([3, 4])
        >>> x.dual.from_numpy([1, 0])
        >>> y.grad[None] = 1
        >>> product.hvp()
        >>> x.grad.to_numpy(), x.grad.dual.to_numpy()
        (array([24.,  9.], dtype=float32), array([8., 6.], dtype=float32))
        """
        return ad.hvp(self, self.arguments(args, named))

    def arguments(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """Values in the order of the parameters."""
        parameters = self.parameters
        if named:
            rest = [p.name for p in parameters[len(args) :]]
            unknown = [n for n in named if n not in rest]
            if unknown:
                raise TypeError_(f"kernel {self.__name__} has no further argument '{unknown[0]}'")
            args = args + tuple(named[n] for n in rest if n in named)
        if len(args) != len(parameters):
            missing = [p.name for p in parameters[len(args) :]]
            raise TypeError_(f"kernel {self.__name__} takes {len(parameters)} arguments, not {len(args)}" + (f" (missing: {', '.join(missing)})" if missing else ""))
        return args

    def _free(self) -> None:
        """Forget what is compiled."""
        self.compiled.clear()
        self._forget()
        self._parameters = None  # what `float` and `int` mean may change

    # -- compilation ---------------------------------------------------------------------------------------------------

    def compile(self, args: tuple[Any, ...]) -> Compiled:
        """The kernel for arguments of these types."""
        if self.generation != runtime.generation:
            self._free()
            self.generation = runtime.generation
        try:
            key: Any = tuple([p.key(a) for p, a in zip(self.parameters, args)])
        except RuntimeTypeError as error:
            raise type(error)(f"kernel {self.__name__}: {error}") from None
        arrays = [id(x) for p, a in zip(self.parameters, args) for x in p.arrays(a)]
        if len(set(arrays)) != len(arrays):  # one array for several arguments
            key = key, tuple([arrays.index(x) for x in arrays])
        variants = self.compiled.setdefault(key, [])
        for compiled in variants:
            if compiled.reads.hold(args):
                return compiled
        need_init()
        try:
            variants.insert(0, self._variant(variants, args))
        except CompilationError as error:
            if cfg.print_full_traceback:
                raise
            raise error.with_traceback(None) from None  # the message names the places that matter
        _known.add(self)
        return variants[0]

    def _variant(self, others: list[Compiled], args: tuple[Any, ...]) -> Compiled:
        """A kernel for what its objects have now. Their numbers that have changed are arguments, if it can be compiled so."""
        changed = set[Path]().union(*(c.reads.changed(args) for c in others)) - self.fixed
        if not changed:
            return self._compile(args)
        before, self.lifted = self.lifted, self.lifted | changed
        try:
            return self._compile(args)
        except CompilationError:
            self.lifted = before
            self.fixed |= changed
            return self._compile(args)

    def _compile(self, args: tuple[Any, ...], marks: Any = None) -> Compiled:
        kept = Kept(None if marks else functools.partial(self._describe, args))
        restored = self._restored(args, kept)
        if restored is not None:
            return restored
        build = Build(self.__name__, in_order=True, checked=cfg.checked, fast_math=cfg.fast_math, deterministic=cfg.deterministic, cache=folder())
        walker = Walker(build)
        build.walker, build.reads = walker, Reads(self.lifted)
        b = build.builder
        with under(build):
            b.kernel_begin(self.__name__)
            build.serial.depth = b.depth()
            b.in_rows(True)
            build.marks = None if marks is None else marks(build)
            frame = walker.frame = new_frame(walker, self.function)
            if self.owner is not None:
                frame.scopes[0][next(iter(inspect.signature(self.function).parameters))] = self.owner
                build.reads.watch(self.owner, Path(-1, (), self.owner))
            for k, (p, a) in enumerate(zip(self.parameters, args)):
                frame.scopes[0][p.name] = p.declare(build, Path(k), a)
                frame.immutable.add(p.name)
            depth = b.depth()
            label = b.block() if early(frame.source.tree) else None
            annotation = resolve(self.function, inspect.signature(self.function).return_annotation)
            frame.returns = Returns(label, depth, 0, result_converter(annotation, self.__name__))
            left = walker.statements(frame.source.tree.body)
            if label is not None:
                b.end()
            value = frame.returns.result(left, frame.source)
            numbers: list[int] = []
            result = None if value is None else result_of(value, numbers)
            if value is None and annotation not in (inspect.Signature.empty, None):
                raise CompilationError(frame.source.place(frame.source.tree) + "\na kernel with a result has to return one at its end")
            if numbers:
                b.results(*numbers)
            if build.extents:
                b.extents(*build.extents)
            b.kernel_end()
            module = b.finish()
        core = CompiledKernel(module, self.__name__)
        if cfg.print_ir:
            print(core._text)
        kept.keep((core._text, build.inputs, build.reads, result), build.called)
        return Compiled(core, build.inputs, build.kept, build.reads, result, build.marks)

    def _describe(self, args: tuple[Any, ...], description: Description) -> None:
        """What the kernel depends on, for arguments like these."""
        description.inlined(self.function)
        description.value(self.owner)
        for p, a in zip(self.parameters, args):
            p.describe(a, description)
        arrays = [id(x) for p, a in zip(self.parameters, args) for x in p.arrays(a)]
        description.say([arrays.index(x) for x in arrays], sorted((at.index, at.names) for at in self.lifted))

    def _restored(self, args: tuple[Any, ...], kept: Kept) -> Compiled | None:
        """The kernel as an earlier run of the program has kept it."""
        found = kept.find()
        if found is None:
            return None
        text, inputs, reads, result = found
        module = _core.Module(text, "ir", name=self.__name__, checked=cfg.checked, fast_math=cfg.fast_math, deterministic=cfg.deterministic,
                              cache=folder())
        return Compiled(CompiledKernel(module, self.__name__), inputs, kept.objects(), reads, result)


def result_converter(annotation: Any, name: str) -> Callable[[Any], Any] | None:
    """What makes a kernel's result of its annotation."""
    if annotation is inspect.Signature.empty:
        def refuse(value: Any) -> Any:
            if value is not None:
                raise SyntaxError_(f"kernel {name} returns a value: annotate its type, as in `-> float`")

        return refuse
    if isinstance(annotation, tuple) or getattr(annotation, "__origin__", None) is tuple:
        inner = [result_converter(a, name) for a in (annotation if isinstance(annotation, tuple) else annotation.__args__)]

        def each(value: Any) -> Any:
            if not isinstance(value, tuple) or len(value) != len(inner):
                raise RuntimeTypeError(f"kernel {name} has {len(inner)} results")
            return tuple(v if c is None else c(v) for c, v in zip(inner, value))

        return each
    return converter(annotation)


def kernel(function: Any = None, **options: Any) -> Any:
    """A decorator: a function that is compiled at its first call, and runs on the device that `init` has chosen.

    A `for` directly in its body runs in parallel. It has derivatives: `grad`, `forward_grad`, `jvp`.

    Parameters
    ----------
    function
        With `self`: a method of a class under `data_oriented`.
    **options
        `graph`, `fastcache`, `pure`: programs for other systems have them, and they change nothing. A launch is one kernel of the GPU, however
        many loops it has; kernels are kept on disk from run to run.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.init()
    >>> x = rg.field(float, 3)
    >>> @rg.kernel
    ... def fill(a: float):
    ...     for i in x:
    ...         x[i] = a * i
    >>> fill(2.0)
    >>> x.to_numpy()
    array([0., 2., 4.], dtype=float32)
    """
    unknown = options.keys() - {"graph", "fastcache", "pure"}
    if unknown:
        raise TypeError(f"kernel has no option '{min(unknown)}'")
    if function is None:
        return lambda f: kernel(f)
    return staticmethod(PythonKernel(function.__func__)) if isinstance(function, staticmethod) else PythonKernel(function)
