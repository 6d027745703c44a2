"""Kernels as functions of PyTorch tensors: under autograd, `torch.func` and `torch.compile`, on the CPU and on NVIDIA GPUs.

>>> import torch, retrograd as rg
>>> relax = rg.compile_c('''
... #include <math.h>
... void relax(int n, const int steps[n], const float x[n], float loss[1])
... {
...     for (int i = 0; i < n; i++) {
...         float v = x[i];
...         for (int t = 0; t < steps[i]; t++)
...             v = sinf(v) + 0.1f;
...         loss[0] += v;
...     }
... }''').relax
>>> f = rg.torch.function(relax, outputs=["loss"])
>>> steps, x = torch.tensor([3, 0], dtype=torch.int32), torch.tensor([0.5, 0.25], requires_grad=True)
>>> f(steps, x).backward()
>>> x.grad
tensor([0.5857, 1.0000])
"""

from __future__ import annotations

from typing import Any, Callable, Mapping

import torch
from torch import Tensor
from torch.autograd import forward_ad

from . import _torch_ops as ops
from ._core import InvalidError
from ._function import Outputs
from ._kernels import Kernel
from ._torch_autograd import Forward
from ._torch_launch import Some
from ._torch_plan import Plan, arrange

__all__ = ["Module", "TorchFunction", "function"]

if not hasattr(Tensor, "__dlpack_c_exchange_api__"):  # by which the C part knows tensors that require gradients
    raise ImportError(f"retrograd.torch needs PyTorch 2.11 or newer; this is {torch.__version__}")

_forward = super(torch.autograd.Function, Forward).apply  # without what Differentiable.apply looks at: it has been done


def function(kernel: Kernel, outputs: Outputs = None) -> "TorchFunction":
    """A kernel as a function of tensors, with derivatives of first and second order in both modes.

    Parameters
    ----------
    kernel : Kernel
    outputs : str, list of str, or dict of shapes by name; optional
        Arrays that the function makes, and returns; zeros where the kernel reads them first. A dict gives shapes that do not follow
        from arguments. By default all arrays that the kernel writes and does not read.

    Returns
    -------
    TorchFunction
        It takes the other arguments, in the kernel's order or by name, and returns, in this order: arrays that the kernel works on
        in place, which it changes; the outputs; what the C function returns, as tensors without axes. One value is returned as it
        is, several as a tuple.

    Notes
    -----
    The memory of tensors is used in place, also of strided ones. Dtypes are those of the C parameters; nothing is converted, and
    bfloat16 is refused. Extents are left out, or integers. Other scalars are numbers or tensors without axes, which have gradients.
    On a GPU a scalar that is a tensor of the GPU is read, for which the host waits: give a number, a tensor of the CPU, or make it
    an array of the kernel. All launches are in the current stream, and nothing else waits.

    Arguments that require no gradient are constants. The reverse is launched alone where the kernel allows it, and autograd keeps
    what it may read. Else it is launched together with the kernel once more, and arrays that the kernel overwrites are copied
    before.

    `vmap` makes directions of one launch where only tangents or cotangents are batched, and else runs one launch after the other.
    The tangent of a tangent (`jacfwd` of `jacfwd`) and third derivatives are refused. Extents are constants of a compiled program:
    another shape compiles another one.

    Examples
    --------
    >>> import torch, retrograd as rg
    >>> kernels = rg.compile_c('''
    ... void grow(int n, double a, const double x[n], double y[n])
    ... {
    ...     for (int i = 0; i < n; i++)
    ...         y[i] = a * x[i] * x[i];
    ... }''')
    >>> f = rg.torch.function(kernels.grow)
    >>> a, x = torch.tensor(0.5, dtype=torch.float64), torch.tensor([1.0, 2.0], dtype=torch.float64)
    >>> f(a, x)
    tensor([0.5000, 2.0000], dtype=torch.float64)
    >>> torch.func.jacrev(f, argnums=(0, 1))(a, x)
    (tensor([1., 4.], dtype=torch.float64), tensor([[1., 0.],
            [0., 2.]], dtype=torch.float64))
    """
    return TorchFunction(kernel, outputs)


class TorchFunction:
    """A kernel as a function of tensors. Made by `function`."""

    def __init__(self, kernel: Kernel, outputs: Outputs = None) -> None:
        self._plan = Plan(kernel, outputs)
        self._outputs = outputs
        self._name = ops.enter(self._plan)
        self._in_place = self._plan.in_place
        self._known: dict[Any, Callable[[Some], Some]] = {}  # by types and names of arguments that were looked at: where they go

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self._plan.kernel

    def __call__(self, *args: Any, **named: Any) -> Any:
        if torch.compiler.is_dynamo_compiling():
            return self._by_operator(self._plan.in_order(args, named))
        values = (*args, *named.values()) if named else args
        known = self._known.get((*map(type, values), *named))
        given = known((None, *values)) if known else self._look_at(args, named)
        if not known and any(_stands_for_others(v) for v in given) or torch._C._len_torch_dispatch_stack():
            ops.refuse_transforms(self._plan)
            return self._by_operator(given)
        try:
            return self._launch(given)
        except InvalidError:
            self._plan.check(given)
            raise

    def _launch(self, given: Some) -> Any:
        plan = self._plan
        transformed = torch._C._are_functorch_transforms_active()
        if plan.in_place:
            done = self._launch_in_place(given, transformed)
        elif transformed:
            done = Forward.apply(plan, *given)
        elif torch.is_grad_enabled() or forward_ad._current_level >= 0:
            done = _forward(plan, *given)
        else:
            done = plan.forward(given)
        return done[0] if len(done) == 1 else tuple(done)

    def _launch_in_place(self, given: Some, transformed: bool) -> Some:
        plan = self._plan
        if not (transformed or forward_ad._current_level >= 0 or torch.is_grad_enabled() and plan.requires_grad(given)):
            done = [given[i] for i in plan.in_place] + plan.forward(given)
            torch.autograd.graph.increment_version(done[:len(plan.in_place)])
            return done
        if not transformed:
            plan.refuse_leaves(given)
        # autograd knows what becomes of a view's base for its own operations, as copy_, alone
        views = [i for i in plan.in_place if given[i]._is_view()]
        values = [v.clone() if i in views else v for i, v in enumerate(given)]
        done = list((Forward.apply if transformed else _forward)(plan, *values, *[given[i].clone() for i in plan.remembered]))
        for at, i in enumerate(plan.in_place):
            if i in views:
                done[at] = given[i].copy_(done[at])
        return done

    def _look_at(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> Some:
        given = self._plan.in_order(args, named)
        self._plan.check(given)
        values = (*args, *named.values())
        if not self._plan.has_structs and not any(_stands_for_others(v) for v in values):
            count = len(args)
            places = self._plan.in_order(range(1, 1 + count), {name: 1 + count + i for i, name in enumerate(named)})
            self._known[(*map(type, values), *named)] = arrange([place or 0 for place in places])
        return given

    def _by_operator(self, given: Some) -> Any:
        done = ops.call(self._name, self._in_place, given)
        return done[0] if len(done) == 1 else tuple(done)

    def __reduce__(self) -> tuple[Any, ...]:
        return TorchFunction, (self.kernel, self._outputs)

    def __repr__(self) -> str:
        takes = ", ".join(s.name for s in self._plan.given if not s.param.extent)
        gives = ", ".join(s.name for s in self._plan.returned)
        return f"<retrograd.torch function {self.kernel.name}({takes}) -> {gives}>"


def _stands_for_others(value: Any) -> bool:
    """A tensor without memory of its own: a fake one, or a subclass that sees to each operation itself."""
    return isinstance(value, Tensor) and type(value).__torch_dispatch__ is not Tensor.__torch_dispatch__


class Module(torch.nn.Module):
    """A kernel as a module: some of its arguments are the module's parameters and buffers.

    Parameters
    ----------
    kernel : Kernel
    outputs : optional
        As in `function`.
    parameters, buffers : dict of tensors by name
        Arguments of the kernel, which are called so in `state_dict`, too.

    Examples
    --------
    >>> import torch, retrograd as rg
    >>> kernels = rg.compile_c('''
    ... void scale(int n, const float w[n], const float x[n], float y[n])
    ... {
    ...     for (int i = 0; i < n; i++)
    ...         y[i] = w[i] * x[i];
    ... }''')
    >>> layer = rg.torch.Module(kernels.scale, parameters={"w": torch.tensor([1.0, 2.0])})
    >>> layer(torch.tensor([3.0, 4.0])).sum().backward()
    >>> layer.w.grad
    tensor([3., 4.])
    >>> layer
    Module(scale(w, x) -> y)
    """

    def __init__(self, kernel: Kernel, outputs: Outputs = None, parameters: Mapping[str, Tensor] | None = None,
                 buffers: Mapping[str, Tensor] | None = None) -> None:
        super().__init__()
        self.function = TorchFunction(kernel, outputs)
        self._own = (*(parameters or {}), *(buffers or {}))
        for name, value in (parameters or {}).items():
            self.register_parameter(name, value if isinstance(value, torch.nn.Parameter) else torch.nn.Parameter(value))
        for name, value in (buffers or {}).items():
            self.register_buffer(name, value)
        for name in self._own:
            if name not in [s.name for s in self.function._plan.given]:
                raise ValueError(f"kernel {kernel.name} has no argument '{name}' that is given to it")

    def forward(self, *args: Any, **named: Any) -> Any:
        """The function of the other arguments."""
        return self.function(*args, **{name: getattr(self, name) for name in self._own}, **named)

    def extra_repr(self) -> str:
        return repr(self.function).removeprefix("<retrograd.torch function ").removesuffix(">")
