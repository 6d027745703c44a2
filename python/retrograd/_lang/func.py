"""`@func`: functions that kernels inline."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from typing import Any, Callable

from . import dtypes
from . import expr as e
from .errors import CompilationError, SyntaxError_, TypeError_, locate
from .functions import cast
from .matrix import Matrix, MatrixType
from .places import Place, either, is_value, local, same_type
from .scopes import Frame
from .source import Source, source_of
from .structs import StructType

ENDLESS = ("the calls of `{}` in itself come to no end, or to too many: functions of kernels are inlined, so that a recursion ends when the kernel is compiled, "
           "by an `if static(...)` of arguments annotated `template()`, or of shapes. One whose depth only the data know is a loop with a stack")


class Template:
    """The annotation of an argument that is anything, by identity: a compile-time constant, or a field."""

    def __init__(self, dtype: Any = None, dim: Any = None) -> None:
        pass

    def __repr__(self) -> str:
        return "template()"


template = Template


def is_template(annotation: Any) -> bool:
    """Whether it is `template()` or `Template`."""
    return annotation is Template or isinstance(annotation, Template)


class Returns:
    """What a function's returns give.

    The only one at the function's end is its value. Others leave the function's block, and put their values into variables around it: a way
    for each set of types, and the number of the way that was taken.
    """

    def __init__(self, label: int | None, depth: int, level: int, convert: Callable[[Any], Any] | None = None) -> None:
        self.label, self.depth, self.level, self.convert = label, depth, level, convert
        self.ways: list[list[Place]] = []
        self.way: Place | None = None
        self.value: Any = None
        self.single = True
        self.ended = False  # by a return that is reached whenever the function is called

    def give(self, walker: Any, value: Any) -> None:
        """A return is reached."""
        if self.convert is not None:
            value = self.convert(value)
        surely = walker.level == self.level and not any(loop.jumped for loop in walker.frame.loops)
        if self.label is None or surely and not self.ways:
            self.value, self.ended = value, True
            return
        if value is not None:
            self._store(list(value) if isinstance(value, tuple) else [value], not isinstance(value, tuple))
        walker.build.builder.leave(self.label)

    def _store(self, values: list[Any], single: bool) -> None:
        if not all(is_value(v) for v in values):
            raise CompilationError("a return under control of run time gives scalars, vectors, matrices or structs")
        if self.ways and (len(values) != len(self.ways[0]) or single != self.single):
            raise TypeError_("the returns of a function give different numbers of values")
        self.single = single
        k = next((k for k, way in enumerate(self.ways) if all(same_type(p, v) for p, v in zip(way, values))), len(self.ways))
        if k == len(self.ways):
            self.ways.append([local("returned", v, self.depth) for v in values])
            if k == 1:  # the first way has the number 0 without being told
                self.way = local("way", 0, self.depth, dtypes.i32)
        for place, v in zip(self.ways[k], values):
            place.store(v)
        if k:
            assert self.way is not None
            self.way.store(k)

    def result(self, left: bool, source: Source) -> Any:
        """The value after the function's end. `left`: whether each way through it ends with a return."""
        if not self.ways:
            return self.value
        if not left:
            name = source.tree.name
            raise locate(CompilationError(f"`{name}` returns a value on some ways through it, and none on others: add a return at its end"),
                         source.place(source.tree))
        values = [p.load() for p in self.ways[0]]
        for k, way in enumerate(self.ways[1:], 1):
            assert self.way is not None
            values = [either(self.way.load() == k, p.load(), v) for p, v in zip(way, values)]
        return values[0] if self.single else tuple(values)


def converter(annotation: Any) -> Callable[[Any], Any] | None:
    """What makes a value of an annotated type; None: any value."""
    if annotation is inspect.Signature.empty or annotation is None or is_template(annotation):
        return None
    dtype = dtypes.of(annotation)
    if dtype is not None:
        return lambda v: cast(v, dtype)
    if isinstance(annotation, StructType):
        return annotation
    if isinstance(annotation, MatrixType):
        return lambda v: annotation(v) if isinstance(v, (Matrix, list, tuple)) or e.is_scalar(v) else v
    return None


def early(tree: ast.FunctionDef) -> bool:
    """Whether a return stands anywhere but at the function's end."""
    last = tree.body[-1]
    return any(isinstance(n, ast.Return) and n is not last for n in ast.walk(tree))


def stored_items(tree: ast.FunctionDef) -> set[str]:
    """Names whose items are assigned."""
    found = set()
    for n in ast.walk(tree):
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name):
            found.add(n.value.id)
    return found


def new_frame(walker: Any, function: Callable[..., Any]) -> Frame:
    """A frame for a function's body."""
    source = source_of(function)
    walker.build.called.append(function)
    frame = Frame(function, source, walker.build.file(source.path, ""))
    frame.stored = stored_items(source.tree)
    return frame


class Func:
    """A Python function that kernels inline. Made by `func`."""

    __name__: str

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.owner: Any = None
        self.bound = False
        functools.update_wrapper(self, function)

    def __get__(self, instance: Any, owner: Any = None) -> "Func":
        if instance is None:
            return self
        made = type(self)(self.function)
        made.owner, made.bound = instance, True
        return made

    def __call__(self, *args: Any, **named: Any) -> Any:
        from .build import building

        if not building():
            raise SyntaxError_(f"`{self.__name__}` is a @func: kernels and other functions call it, not Python")
        return call_function(self, list(args), named)

    @property
    def signature(self) -> inspect.Signature:
        """Of the Python function."""
        return inspect.signature(self.function)

    def inline(self, walker: Any, node: ast.Call) -> Any:
        """A call in a kernel."""
        parameters = list(self.signature.parameters.values())[1 if self.bound else 0 :]
        by_reference = [is_template(resolve(self.function, p.annotation)) for p in parameters]
        args: list[Any] = []
        for a in node.args:
            if isinstance(a, ast.Starred):
                args += list(walker.eval(a.value))
            else:
                args.append(walker.ref(a) if len(args) < len(by_reference) and by_reference[len(args)] else walker.eval(a))
        refs = {p.name for p, r in zip(parameters, by_reference) if r}
        named: dict[str, Any] = {}
        for k in node.keywords:
            if k.arg is None:
                named.update(walker.eval(k.value))
            else:
                named[k.arg] = walker.ref(k.value) if k.arg in refs else walker.eval(k.value)
        return self.body(walker, node, args, named)

    def body(self, walker: Any, node: Any, args: list[Any], named: dict[str, Any]) -> Any:
        """The function's body in place of a call."""
        try:
            bound = self.signature.bind(*([self.owner] if self.bound else []), *args, **named)
        except TypeError as error:
            raise TypeError_(f"{self.__name__}(): {error}") from error
        bound.apply_defaults()
        frame = new_frame(walker, self.function)
        b = walker.build.builder
        walker.at(node)
        b.inline_push(self.__name__)
        caller = walker.frame
        walker.calls.append((caller, node))
        walker.frame = frame
        static, walker.static = walker.static, 0
        try:
            for name, value in bound.arguments.items():
                itself = self.bound and value is self.owner and isinstance(value, Place)  # a method changes what it is called of
                take(frame, name, value, Template if itself else resolve(self.function, self.signature.parameters[name].annotation))
            depth = b.depth()
            label = b.block() if early(frame.source.tree) else None
            frame.returns = Returns(label, depth, walker.level, converter(resolve(self.function, self.signature.return_annotation)))
            left = walker.statements(frame.source.tree.body)
            if label is not None:
                b.end()
            return frame.returns.result(left, frame.source)
        except RecursionError as error:
            if any(f is not None and f.function is self.function for f, _ in walker.calls):
                raise
            raise SyntaxError_(ENDLESS.format(self.__name__)) from error
        finally:
            walker.static = static
            walker.frame = caller
            walker.calls.pop()
            b.inline_pop()


def resolve(function: Callable[..., Any], annotation: Any) -> Any:
    """An annotation that may be a text (`from __future__ import annotations`)."""
    if not isinstance(annotation, str):
        return annotation
    from .source import names_of

    try:
        return eval(annotation, function.__globals__, names_of(function))
    except Exception as error:
        raise CompilationError(f"the annotation `{annotation}` of {function.__qualname__} cannot be evaluated: {error}") from error


def resolve_in(cls: type, annotation: Any, names: dict[str, Any] | None = None) -> Any:
    """The annotation of a class's member. `names`: those of the place where it is defined, if not only its module's."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, vars(sys.modules[cls.__module__]), {**(names or {}), **vars(cls)})
    except Exception as error:
        raise CompilationError(f"the annotation `{annotation}` of {cls.__qualname__} cannot be evaluated: {error}") from error


def take(frame: Frame, name: str, value: Any, annotation: Any) -> None:
    """An argument becomes a local: of values a copy, of others and of templates the thing itself."""
    if is_template(annotation):
        frame.scopes[0][name] = value
        return
    if isinstance(value, Place):
        value = value.load()
    convert = converter(annotation)
    value = value if convert is None else convert(value)
    if is_value(value):
        place = local(name, value)
        place.store(value)
        frame.scopes[0][name] = place
    else:
        frame.scopes[0][name] = value


def call_function(function: Func, args: list[Any], named: dict[str, Any]) -> Any:
    """A call by Python code that runs while a kernel is built."""
    from .kernel import walker_of

    walker = walker_of()
    return function.body(walker, walker.node, args, named)


def func(function: Any = None, **options: Any) -> Any:
    """A decorator: a function that kernels call. It is inlined; annotations are optional; arguments are values.

    Examples
    --------
    >>> import retrograd as rg
    >>> @rg.func
    ... def square(x):
    ...     return x * x
    """
    if function is None:
        return func
    return staticmethod(Func(function.__func__)) if isinstance(function, staticmethod) else Func(function)


real_func = func


class PythonFunc(Func):
    """A function for kernels and for Python. Made by `pyfunc`."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        from .build import building

        return super().__call__(*args, **named) if building() else self.function(*([self.owner] if self.bound else []), *args, **named)


def pyfunc(function: Any = None, **options: Any) -> Any:
    """A decorator: a function that kernels inline, and that Python calls as it is.

    Examples
    --------
    >>> import retrograd as rg
    >>> @rg.pyfunc
    ... def square(x):
    ...     return x * x
    >>> square(3)
    9
    """
    return pyfunc if function is None else PythonFunc(function)
