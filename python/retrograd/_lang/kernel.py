"""`@kernel`: Python functions that are compiled at their first call."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable

from .._kernels import FORWARD, FORWARD_VJP, JVP
from .._kernels import Kernel as CompiledKernel
from . import expr as e
from .annotations import Parameter, parameters_of
from .build import Build, under
from .errors import CompilationError, RuntimeTypeError, SyntaxError_, TypeError_
from .func import Returns, converter, early, new_frame, resolve
from .matrix import Matrix
from .places import entry_type
from .runtime import cfg, need_init, runtime
from .structs import Struct
from .walk import Walker


class Result:
    """What a kernel returns: how the library's numbers become Python's."""

    def __init__(self) -> None:
        self.values: list[int] = []

    def take(self, value: Any) -> Callable[[Any], Any]:
        """Adds a value's numbers; gives what puts them together again."""
        if isinstance(value, tuple):
            parts = [self.take(v) for v in value]
            return lambda numbers: tuple(p(numbers) for p in parts)
        if isinstance(value, Matrix):
            t = entry_type(value)
            entries = [self.take(e.typed(x, t)) for x in value.entries]
            shape = value.shape
            return lambda numbers: Matrix.of([p(numbers) for p in entries], shape)
        if isinstance(value, Struct):
            members = {k: self.take(v) for k, v in value.members.items()}
            return lambda numbers: Struct({k: p(numbers) for k, p in members.items()}, value.type)
        if not e.is_scalar(value):
            raise TypeError_(f"a kernel returns scalars, vectors, matrices, structs and tuples of these, not {e.describe(value)}")
        at = len(self.values)
        self.values.append(e.lift(value).value)
        return lambda numbers: numbers[at]


class Compiled:
    """A kernel for arguments of certain types."""

    def __init__(self, core: CompiledKernel, inputs: list[Any], kept: list[Any], result: Callable[[Any], Any] | None, count: int) -> None:
        self.core, self.kept, self.result, self.count = core, kept, result, count
        self.names = [name for name, _ in inputs]
        self.getters = [getter for _, getter in inputs]

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """What the library takes, by parameter."""
        return tuple([getter(args) for getter in self.getters])

    def run(self, form: int, args: tuple[Any, ...], adjoints: Any = None, tangents: Any = None) -> Any:
        """A launch."""
        numbers = self.core._run(form, self.inputs(args), adjoints, tangents, None, None, None)
        if self.result is None or numbers is None:
            return None
        return self.result(numbers if self.count != 1 else (numbers,))


def walker_of() -> Walker:
    """The walk that is under way in this thread."""
    from .build import current

    return current().walker


class PythonKernel:
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

    def __init__(self, function: Callable[..., Any], owner: Any = None, cache: Any = None) -> None:
        self.function, self.owner = function, owner
        self.compiled: dict[Any, Compiled] = {} if cache is None else cache
        self.generation = runtime.generation
        functools.update_wrapper(self, function)
        self._parameters: list[Parameter] | None = None

    def __get__(self, instance: Any, owner: Any = None) -> "PythonKernel":
        if instance is None:
            return self
        bound = instance.__dict__.get("_retrograd_kernels") if hasattr(instance, "__dict__") else None
        if bound is None:
            bound = {}
            try:
                object.__setattr__(instance, "_retrograd_kernels", bound)
            except AttributeError:
                pass
        if self.__name__ not in bound or bound[self.__name__].function is not self.function:
            bound[self.__name__] = PythonKernel(self.function, instance)
        return bound[self.__name__]

    def __repr__(self) -> str:
        return f"<rg.kernel {self.__qualname__}>"

    @property
    def parameters(self) -> list[Parameter]:
        """The arguments that a call takes."""
        if self._parameters is None:
            self._parameters = parameters_of(self.function, self.owner is not None)
        return self._parameters

    # -- launches ------------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **named: Any) -> Any:
        args = self.arguments(args, named)
        from .ad import launching

        if launching.handlers:
            return launching.launch(self, args)
        return self.compile(args).run(FORWARD, args)

    def grad(self, *args: Any, **named: Any) -> None:
        """The reverse of one launch: adds to the adjoints of what the kernel reads, from those of what it writes."""
        from .ad import reverse

        reverse(self, self.arguments(args, named))

    def forward_grad(self, *args: Any, **named: Any) -> Any:
        """The launch and its reverse in one."""
        args = self.arguments(args, named)
        return self.compile(args).run(FORWARD_VJP, args, adjoints=self.adjoints(args))

    def jvp(self, *args: Any, **named: Any) -> Any:
        """The launch, and the tangents (`dual`) of what it writes from those of what it reads."""
        args = self.arguments(args, named)
        return self.compile(args).run(JVP, args)

    def adjoints(self, args: tuple[Any, ...]) -> Any:
        """Adjoints of tensors among the arguments, by parameter of the library."""
        compiled = self.compile(args)
        found: list[Any] = [None] * len(compiled.core._params)
        some = False
        for k, name in enumerate(compiled.names):
            adjoint = compiled.getters[k].__dict__.get("adjoint") if hasattr(compiled.getters[k], "__dict__") else None
            if adjoint is not None:
                found[k] = adjoint(args)
                some = some or found[k] is not None
        return tuple(found) if some else None

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

    # -- compilation ---------------------------------------------------------------------------------------------------

    def compile(self, args: tuple[Any, ...]) -> Compiled:
        """The kernel for arguments of these types."""
        if self.generation != runtime.generation:
            self.compiled.clear()
            self.generation = runtime.generation
        try:
            key = tuple([p.key(a) for p, a in zip(self.parameters, args)])
        except RuntimeTypeError as error:
            raise type(error)(f"kernel {self.__name__}: {error}") from None
        found = self.compiled.get(key)
        if found is None:
            need_init()
            found = self.compiled[key] = self._compile(args)
        return found

    def _compile(self, args: tuple[Any, ...]) -> Compiled:
        build = Build(self.__name__, checked=cfg.checked, fast_math=cfg.fast_math, deterministic=cfg.deterministic)
        walker = Walker(build)
        build.walker = walker
        b = build.builder
        with under(build):
            b.kernel_begin(self.__name__)
            b.in_rows(True)
            frame = walker.frame = new_frame(walker, self.function)
            if self.owner is not None:
                frame.scopes[0][next(iter(inspect.signature(self.function).parameters))] = self.owner
                build.kept.append(self.owner)
            for k, (p, a) in enumerate(zip(self.parameters, args)):
                frame.scopes[0][p.name] = p.declare(build, k, a)
                frame.immutable.add(p.name)
            depth = b.depth()
            label = b.block() if early(frame.source.tree) else None
            annotation = resolve(self.function, inspect.signature(self.function).return_annotation)
            frame.returns = Returns(label, depth, 0, result_converter(annotation, self.__name__))
            walker.statements(frame.source.tree.body)
            if label is not None:
                b.end()
            value = frame.returns.result()
            result = Result()
            build_result = None if value is None else result.take(value)
            if value is None and annotation not in (inspect.Signature.empty, None):
                raise CompilationError(frame.source.place(frame.source.tree) + "\na kernel with a result has to return one at its end")
            if result.values:
                b.results(*result.values)
            if build.extents:
                b.extents(*build.extents)
            b.kernel_end()
            module = b.finish()
        core = CompiledKernel(module, self.__name__)
        return Compiled(core, build.inputs, build.kept, build_result, len(result.values))


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
    if function is None:
        return lambda f: kernel(f, **options)
    return PythonKernel(function)
