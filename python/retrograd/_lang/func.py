"""`@func`: functions that kernels inline."""

from __future__ import annotations

import ast
import functools
import inspect
from typing import Any, Callable

from . import dtypes
from . import expr as e
from .errors import CompilationError, SyntaxError_, TypeError_
from .functions import cast
from .matrix import Matrix, MatrixType
from .places import Place, is_value, local
from .scopes import Frame
from .source import source_of


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
    """What a function's returns give."""

    def __init__(self, label: int | None, depth: int, level: int, convert: Callable[[Any], Any] | None = None) -> None:
        self.label, self.depth, self.level, self.convert = label, depth, level, convert
        self.places: list[Place] | None = None
        self.value: Any = None
        self.single = True

    def give(self, walker: Any, value: Any) -> None:
        """A return is reached."""
        if self.convert is not None:
            value = self.convert(value)
        b = walker.build.builder
        if walker.level == self.level and self.places is None or self.label is None:
            self.value = value
            return
        if value is not None:
            values = list(value) if isinstance(value, tuple) else [value]
            if not all(is_value(v) for v in values):
                raise CompilationError("a return under control of run time gives scalars, vectors, matrices or structs")
            if self.places is None:
                self.single = not isinstance(value, tuple)
                self.places = [local("returned", v, self.depth) for v in values]
            if len(values) != len(self.places):
                raise TypeError_("the returns of a function give different numbers of values")
            for place, v in zip(self.places, values):
                place.store(v)
        b.leave(self.label)

    def result(self) -> Any:
        """The value after the function's end."""
        if self.places is None:
            return self.value
        values = tuple(p.load() for p in self.places)
        return values[0] if self.single else values


def converter(annotation: Any) -> Callable[[Any], Any] | None:
    """What makes a value of an annotated type; None: any value."""
    if annotation is inspect.Signature.empty or annotation is None or is_template(annotation):
        return None
    dtype = dtypes.of(annotation)
    if dtype is not None:
        return lambda v: cast(v, dtype)
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
    frame = Frame(function, source, walker.build.file(source.path, ""))
    frame.stored = stored_items(source.tree)
    return frame


class Func:
    """A Python function that kernels inline. Made by `func`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.owner: Any = None
        self.bound = False
        functools.update_wrapper(self, function)

    def __get__(self, instance: Any, owner: Any = None) -> "Func":
        if instance is None:
            return self
        made = Func(self.function)
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
        if any(f.function is self.function for f, _ in walker.calls) or walker.frame is not None and walker.frame.function is self.function:
            raise SyntaxError_(f"`{self.__name__}` calls itself: functions of kernels are inlined and cannot be recursive")
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
        hoists, walker.hoists, scopes, walker.hoist_scopes = walker.hoists, [], walker.hoist_scopes, []
        static, walker.static = walker.static, 0
        try:
            for name, value in bound.arguments.items():
                annotation = resolve(self.function, self.signature.parameters[name].annotation)
                take(frame, name, value, annotation)
            depth = b.depth()
            label = b.block() if early(frame.source.tree) else None
            frame.returns = Returns(label, depth, walker.level, converter(resolve(self.function, self.signature.return_annotation)))
            walker.statements(frame.source.tree.body)
            if label is not None:
                b.end()
            return frame.returns.result()
        finally:
            walker.hoists, walker.hoist_scopes, walker.static = hoists, scopes, static
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
    return Func(function)


real_func = func
pyfunc = func
