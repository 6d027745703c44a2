"""Kernels of C, called and differentiated."""

from __future__ import annotations

import copy
import inspect
import keyword
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import _command, _core
from ._arrays import Array
from ._records import part

FORWARD, VJP, FORWARD_VJP, JVP, JVP_VJP, JVP_FORWARD_VJP = range(6)
BLOCK = 16  # directions of one launch, where its effects happen once: more make the code large, and 64 are the most
_FORMS = {"forward": FORWARD, "vjp": VJP, "forward_vjp": FORWARD_VJP, "jvp": JVP, "jvp_vjp": JVP_VJP, "hvp": JVP_FORWARD_VJP}

Arrays = Mapping[str, Any]


@dataclass(frozen=True)
class Param:
    """A parameter of a kernel.

    Attributes
    ----------
    name : str
        Of a field of a struct or of structs "p.mass"; of a result "return".
    dtype : numpy.dtype
    ndim : int or None
        Axes of an array; None: a scalar.
    read, written : bool
        Whether the kernel reads, and writes, the array.
    result : bool
        A value that the kernel returns.
    flat : bool
        A pointer: a contiguous array of any shape.
    extent : bool
        A scalar that may be left out: the shape of an array tells.
    record : bool
        A field of structs.
    """

    name: str
    dtype: np.dtype[Any]
    ndim: int | None
    read: bool
    written: bool
    result: bool
    flat: bool
    extent: bool
    record: bool

    @property
    def argument(self) -> str:
        """The name of the argument that it is, or is a field of."""
        return self.name.partition(".")[0]

    @property
    def is_float(self) -> bool:
        """Whether it can have derivatives."""
        return self.dtype.kind == "f"


@dataclass(frozen=True)
class Finding:
    """One comparison of `Kernel.check`.

    Attributes
    ----------
    outcome : str
        "shown", "left out", "not shown" or "failed".
    test : str
        What was compared.
    error, tolerance : float
        Relative.
    compared, unshown : int
        Values compared; values that could not be.
    where, note : str
        The place of the largest error; why something was left out.
    """

    outcome: str
    test: str
    error: float
    tolerance: float
    compared: int
    unshown: int
    where: str
    note: str


@dataclass(frozen=True)
class Report:
    """What `Kernel.check` found; true if no comparison failed."""

    outcome: str
    findings: tuple[Finding, ...]

    def __bool__(self) -> bool:
        return self.outcome != "failed"

    def __str__(self) -> str:
        return "\n".join(f"{f.outcome:9}  {f.test}" + (f"  {f.where}" if f.where else "") + (f"  ({f.note})" if f.note else "")
                         for f in self.findings)


class Kernel(_core.Kernel):
    """A C function, called with arrays and scalars.

    Arguments are given in the order of the C parameters, or by name. An integer that is the extent of an array (`n` of `float x[n]`)
    may be left out. Arrays are `retrograd.array`s, NumPy arrays, or objects with `__dlpack__` (PyTorch, JAX, CuPy), also strided ones;
    the kernel reads and writes their memory in place. A call returns what the C function returns.

    Derivatives of `retrograd.array`s are their own (`x.adjoint`, `x.tangent`); those of other arrays are given in dicts by name.

    Examples
    --------
    >>> import numpy as np, retrograd as rg
    >>> norm = rg.compile_c('''
    ... double norm(int n, const double x[n])
    ... {
    ...     double s = 0;
    ...     for (int i = 0; i < n; i++)
    ...         s += x[i] * x[i];
    ...     return s;
    ... }''').norm
    >>> x = np.array([3.0, 4.0])
    >>> norm(x)
    25.0
    >>> norm.value_and_grad(x)
    (25.0, {'x': array([6., 8.])})
    >>> norm.jvp(x, tangents={'x': np.array([1.0, 0.0])})
    {'return': 6.0}
    >>> norm.hvp(x, vector={'x': np.array([1.0, 0.0])})
    {'x': array([2., 0.])}
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return Kernel, (self._module, self.name)

    @property
    def params(self) -> tuple[Param, ...]:
        """The kernel's parameters, results last."""
        return tuple(Param(name, np.dtype(dtype), None if rank < 0 else rank, read, written, result, flat, extent, record)
                     for name, dtype, rank, read, written, result, flat, extent, record in self._params)

    @property
    def signature(self) -> inspect.Signature:
        """How it is called. Integers that may be left out have the default `...`.

        Examples
        --------
        >>> import retrograd as rg
        >>> rg.compile_c("void f(int n, float a, float x[n]) { x[0] = a; }").f.signature
        <Signature (n: int32 = Ellipsis, a: float32, x: float32[:])>
        """
        kinds: dict[str, Param] = {}
        for p in self.params:
            kinds.setdefault(p.argument, p)
        # C has names that Python keeps for itself: `in`
        found = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY if keyword.iskeyword(name)
                                   else inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=_Kind(kinds[name]),
                                   default=... if kinds[name].extent else inspect.Parameter.empty)
                 for name in dict.fromkeys(name.partition(".")[0] for name in self._inputs)]
        return inspect.Signature(found, __validate_parameters__=False)

    def __repr__(self) -> str:
        return f"<retrograd kernel {self.name}{self.signature}>"

    # -- the forms of a launch, as they are ------------------------------------------------------------------------------

    def forward_vjp(self, *args: Any, adjoints: Arrays | None = None, **named: Any) -> Any:
        """The kernel and its reverse derivative in one launch.

        Parameters
        ----------
        *args, **named
            As in a call.
        adjoints : dict of arrays by name
            Adjoints of parameters and of results ("return"), changed in place: those of what the kernel reads are added to, those of
            what it overwrites are used up. An array without an adjoint is a constant. Shapes are those of the arguments, or have an
            axis of directions before them.

        Returns
        -------
        What the kernel returns.
        """
        return self._launch(FORWARD_VJP, args, named, _dict(adjoints), None, None)

    def vjp(self, *args: Any, adjoints: Arrays | None = None, **named: Any) -> None:
        """The reverse derivative alone, after an earlier call with the same arguments.

        Parameters are those of `forward_vjp`. `CompileError`: the kernel overwrites values that its reverse needs.
        """
        self._launch(VJP, args, named, _dict(adjoints), None, None)

    def jvp(self, *args: Any, tangents: Arrays | None = None, **named: Any) -> dict[str, Any]:
        """The kernel and the tangents of what it writes.

        Parameters
        ----------
        *args, **named
            As in a call.
        tangents : dict of arrays by name
            Tangents of parameters, dense; of a scalar a number. Tangents of arrays that the kernel writes are written in place.

        Returns
        -------
        dict of arrays by name
            The tangents of all that the kernel writes, and of its results. Those that are not given are made.
        """
        given, values = self._tangents(tangents), self._values(args, named)
        made = self._planes(values, lambda p: p.written or p.result, given, _directions(given, values))
        self._launch(JVP, args, named, None, {**made, **given}, None)
        own = {name: value.tangent for name, value in values.items() if isinstance(value, Array) and value.tangent is not None}
        found = {**own, **{name: _number(tangent) for name, tangent in made.items()}, **given}
        return {p.name: found[p.name] for p in self.params if (p.written or p.result) and p.name in found}

    def launch(self, form: str, *args: Any, adjoints: Arrays | None = None, tangents: Arrays | None = None,
               adjoint_tangents: Arrays | None = None, **named: Any) -> Any:
        """One launch of any form, with exactly the derivatives that are given.

        Parameters
        ----------
        form : str
            "forward", "vjp", "forward_vjp", "jvp", "jvp_vjp" (the jvp of the vjp) or "hvp" (the jvp of the forward_vjp).
        adjoints, tangents, adjoint_tangents : dict of arrays by name
        """
        if form not in _FORMS:
            raise ValueError(f"there is no form '{form}' (there are {', '.join(_FORMS)})")
        return self._launch(_FORMS[form], args, named, _dict(adjoints), _dict(tangents), _dict(adjoint_tangents))

    # -- gradients, Hessians, Jacobians ----------------------------------------------------------------------------------

    def value_and_grad(self, *args: Any, of: str | None = None, wrt: str | Sequence[str] | None = None, **named: Any) -> tuple[Any, Any]:
        """The kernel, and the gradient of a number that it computes.

        Parameters
        ----------
        *args, **named
            As in a call; arrays in the host's memory.
        of : str, optional
            A result or an array whose elements are summed. By default the result, or the only array of one element that is written.
        wrt : str or list of str, optional
            Parameters. By default all that have a gradient.

        Returns
        -------
        value : float or array
            Of `of`.
        gradient : array, or dict of arrays by name if `wrt` is not one name
            Of a scalar a float.
        """
        values = self._host_values(args, named)
        of = self._output(of, values)
        names = self._wrt(wrt)
        adjoints = self._planes(values, lambda p: p.name in names or p.written or p.result, {}, 0)
        adjoints[of] += 1
        returned = self._launch(FORWARD_VJP, args, named, adjoints, None, None)
        return self._value(of, values, returned), _chosen(wrt, {name: _number(adjoints[name]) for name in names})

    def hvp(self, *args: Any, vector: Arrays, of: str | None = None, wrt: str | Sequence[str] | None = None, **named: Any) -> Any:
        """The product of a Hessian with a vector, in one launch.

        Parameters
        ----------
        *args, **named
            As in a call; arrays in the host's memory.
        vector : dict of arrays by name
            The direction in which the gradient is differentiated.
        of, wrt
            As in `value_and_grad`.

        Returns
        -------
        array, or dict of arrays by name if `wrt` is not one name
        """
        given, values = self._tangents(vector), self._host_values(args, named)
        of = self._output(of, values)
        names = self._wrt(wrt)
        n = _directions(given, values)

        def takes_part(p: Param) -> bool:
            return p.name in names or p.written or p.result

        adjoints = self._planes(values, takes_part, {}, 0)
        adjoints[of] += 1
        tangents = {**self._planes(values, takes_part, given, n), **given}
        second = self._planes(values, takes_part, {}, n)
        self._launch(JVP_FORWARD_VJP, args, named, adjoints, tangents, second)
        return _chosen(wrt, {name: _number(second[name]) for name in names})

    def jacobian(self, *args: Any, of: str | None = None, wrt: str | Sequence[str] | None = None, **named: Any) -> Any:
        """The derivatives of all elements of an array, up to 16 rows in one launch.

        Parameters
        ----------
        *args, **named
            As in a call; arrays in the host's memory.
        of : str, optional
            A result or an array. By default the result, or the only array that is written.
        wrt : str or list of str, optional
            Parameters. By default all that have a gradient.

        Returns
        -------
        array of shape (shape of `of` + shape of the parameter), or dict of arrays by name if `wrt` is not one name

        Examples
        --------
        >>> import numpy as np, retrograd as rg
        >>> f = rg.compile_c("void f(const double x[2], double y[2]) { y[0] = x[0] * x[1]; y[1] = x[0]; }").f
        >>> f.jacobian(np.array([2.0, 3.0]), np.zeros(2), wrt="x")
        array([[3., 2.],
               [1., 0.]])
        """
        values = self._host_values(args, named)
        of = self._output(of, values, any_size=True)
        names = self._wrt(wrt)
        shape = () if of not in values else np.shape(values[of])
        n = int(np.prod(shape, dtype=np.int64))
        rows = {name: np.zeros((n, *like.shape), like.dtype) for name, like in self._planes(values, lambda p: p.name in names, {}, 0).items()}
        bound = self._bind(args, named)
        written = {p.argument for p in self.params if p.written}
        for first, end in blocks(n) or [(0, 0)]:
            adjoints = self._planes(values, lambda p: p.name in names or p.written or p.result, {}, end - first)
            adjoints[of].reshape(end - first, n)[...] = np.eye(end - first, n, first)
            # only the last launch changes the arrays that the kernel writes
            given = bound if end == n else {name: copy.deepcopy(value) if name in written else value for name, value in bound.items()}
            self._launch(FORWARD_VJP, (), given, adjoints, None, None)
            for name in names:
                rows[name][first:end] = adjoints[name]
        return _chosen(wrt, {name: row.reshape(shape + row.shape[1:]) for name, row in rows.items()})

    # -- the compiler ----------------------------------------------------------------------------------------------------

    def compile(self, form: str = "forward", *, device: Any = "cpu", directions: int = 1) -> None:
        """Compile a form ahead of its first launch, for dense arrays with all derivatives; any thread may do so."""
        if form not in _FORMS:
            raise ValueError(f"there is no form '{form}' (there are {', '.join(_FORMS)})")
        self._compile(_FORMS[form], device, directions)

    def check(self, *, device: str = "cpu", seed: int = 1, samples: int = 0, starts: int = 0, **named: Any) -> Report:
        """Compare the kernel's derivatives with each other, with differences and with an interpreter, and look for races.

        Parameters
        ----------
        device : str
            What is compared with the interpreter.
        seed, samples, starts : int
            Of generated arguments; how many derivatives are compared with differences; how often.
        **named
            Arguments; those that are left out are generated. They are not changed.

        Returns
        -------
        Report
        """
        outcome, findings = self._check(device, named, seed, samples, starts)
        return Report(outcome, tuple(Finding(*f) for f in findings))

    def explain(self, *, split: bool = False, device: str = "cpu", constant: str | Sequence[str] = ()) -> str:
        """The kernel's source, annotated with how its gradient works, and advice.

        It says for each loop what is recorded and what is computed again, how adjoints are added, and how many iterations run side by
        side in the lanes of vectors.

        Parameters
        ----------
        split : bool
            Of the reverse derivative alone, after an earlier call.
        device : str
            "cpu", or "cuda" for the code of GPUs, which need not be there.
        constant : str or list of str
            Parameters without derivatives.

        Examples
        --------
        >>> import retrograd as rg
        >>> print(rg.compile_c("void f(double x[1]) { x[0] *= x[0]; }").f.explain().splitlines()[0])
        <string>: gradient of `f`
        """
        names = [constant] if isinstance(constant, str) else constant
        words = ["--mode", "split" if split else "combined", "--device", device, *(word for name in names for word in ("--constant", name))]
        return _command.explain(self._module.made_of, self.name, words)

    # -- what the above have in common -----------------------------------------------------------------------------------

    def _values(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by the names of parameters; fields of structs as "p.mass"."""
        bound = self._bind(args, dict(named))
        fields = {p.name: _records_field(bound[p.argument], p.name) if p.record else part(bound[p.argument], self.name, p.name)
                  for p in self.params if p.argument != p.name and p.argument in bound}
        return {**bound, **fields}

    def _host_values(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        values = self._values(args, named)
        for name, value in values.items():
            if isinstance(value, Array):
                raise TypeError(f"kernel {self.name}: argument '{name}' is a retrograd.array, which has derivatives of its own: call forward_vjp or "
                                "launch, which use them, or give its numpy()")
        return values

    def _planes(self, values: Mapping[str, Any], want: Callable[[Param], bool], given: Arrays, directions: int) -> dict[str, np.ndarray[Any, Any]]:
        """Zeros for derivatives of the float parameters that are wanted and not given."""
        made = {}
        for p in self.params:
            value = values.get(p.name, ())
            if not p.is_float or not want(p) or p.name in given or isinstance(value, Array):
                continue
            shape = tuple(np.shape(value)) if p.ndim is not None and not p.result else ()
            made[p.name] = np.zeros(((directions,) if directions else ()) + shape, p.dtype)
        return made

    def _tangents(self, given: Arrays | None) -> dict[str, Any]:
        """Tangents by name; numbers as arrays without axes, of the parameter's type."""
        types = {p.name: p.dtype for p in self.params if p.ndim is None}
        return {name: np.asarray(value, types[name]) if name in types and isinstance(value, (int, float)) else value
                for name, value in (given or {}).items()}

    def _output(self, of: str | None, values: Mapping[str, Any], any_size: bool = False) -> str:
        found = [p.name for p in self.params if p.is_float and (p.result or p.written and (any_size or np.size(values.get(p.name, ())) == 1))]
        if of is None and len(found) == 1:
            return found[0]
        if not any(p.is_float and (p.result or p.written) for p in self.params):
            raise ValueError(f"kernel {self.name} computes no floats")
        if of is None:
            raise ValueError(f"kernel {self.name}: name the output with of= ({', '.join(p.name for p in self.params if p.is_float and (p.result or p.written))})")
        if not any(p.name == of and p.is_float and (p.result or p.written) for p in self.params):
            raise ValueError(f"kernel {self.name} has no output '{of}' of floats")
        return of

    def _wrt(self, wrt: str | Sequence[str] | None) -> list[str]:
        able = [p.name for p in self.params if p.is_float and not p.result and (p.read or p.ndim is None)]
        names = able if wrt is None else [wrt] if isinstance(wrt, str) else list(wrt)
        for name in names:
            if name not in able:
                raise ValueError(f"kernel {self.name} has no gradient with respect to '{name}' ({', '.join(able)})")
        return names

    def _value(self, of: str, values: Mapping[str, Any], returned: Any) -> Any:
        if of not in values:
            results = [p.name for p in self.params if p.result]
            return returned if len(results) == 1 else returned[results.index(of)]
        value = np.asarray(values[of])
        return value.item() if value.size == 1 else value.copy()


def _number(array: np.ndarray[Any, Any]) -> Any:
    """The derivative of a scalar as a float."""
    return array.item() if array.ndim == 0 else array


def _chosen(wrt: str | Sequence[str] | None, found: dict[str, Any]) -> Any:
    return found[wrt] if isinstance(wrt, str) else found


def blocks(directions: int) -> list[tuple[int, int]]:
    """The first and the end of the directions of each launch, about as many in all."""
    count = -(-directions // BLOCK)
    ends = [directions * i // count for i in range(count + 1)] if count else []
    return list(zip(ends, ends[1:]))


class _Kind:
    """How a signature shows a parameter's type."""

    def __init__(self, p: Param) -> None:
        axes = "[" + ", ".join(":" * p.ndim) + "]" if p.ndim else ""
        self.text = "struct[:]" if p.record else ("struct" if p.argument != p.name else p.dtype.name) + axes

    def __repr__(self) -> str:
        return self.text


def _records_field(records: Any, path: str) -> Any:
    for name in path.split(".")[1:]:
        records = records[name.split("[")[0]]
        for index in name.split("[")[1:]:
            records = records[..., int(index[:-1])]
    return records


def _dict(arrays: Arrays | None) -> dict[str, Any] | None:
    if not (arrays is None or isinstance(arrays, Mapping)):
        raise TypeError(f"derivatives are given in a dict by the parameter's name, not in a {type(arrays).__name__}")
    return None if arrays is None else dict(arrays)


def _directions(given: Arrays, values: Mapping[str, Any]) -> int:
    """How many directions tangents have; 0: they have no axis for that."""
    for name, value in given.items():
        if np.ndim(value) > np.ndim(values.get(name, 0.0)):
            return np.shape(value)[0]
    return 0
