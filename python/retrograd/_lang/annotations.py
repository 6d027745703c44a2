"""Annotations of a kernel's arguments."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, Callable

from . import dtypes
from .array_parameters import AnyArrayParameter, ArrayParameter, NdarrayType
from .bundles import BundleParameter
from .errors import SyntaxError_
from .func import Template, is_template, resolve, resolve_in
from .matrix import MatrixType
from .parameters import MatrixParameter, Parameter, ScalarParameter, StructParameter, TemplateParameter
from .structs import StructType
from .tensors import Tensor


def parameter_for(name: str, annotation: Any) -> Parameter:
    """The parameter that an annotation means."""
    if is_template(annotation) or getattr(annotation, "_data_oriented", False):
        return TemplateParameter(name)
    if dtypes.of(annotation) is not None:
        return ScalarParameter(name, annotation)
    if isinstance(annotation, MatrixType):
        return MatrixParameter(name, annotation)
    if isinstance(annotation, StructType):
        return StructParameter(name, annotation, {k: parameter_for(f"{name}_{k}", t) for k, t in annotation.members.items()})
    if isinstance(annotation, type) and issubclass(annotation, Tensor):
        return AnyArrayParameter(name, NdarrayType())
    if annotation is NdarrayType or isinstance(annotation, NdarrayType):
        return ArrayParameter(name, NdarrayType() if annotation is NdarrayType else annotation)
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        return BundleParameter(name, annotation, {f.name: parameter_for(f"{name}_{f.name}", resolve_in(annotation, f.type))
                                                  for f in dataclasses.fields(annotation)})
    raise SyntaxError_(f"Invalid type annotation of argument `{name}`: {annotation!r}. A scalar, vector, matrix or struct type, `types.ndarray()`, "
                       "`rg.Tensor`, `template()` or a dataclass is wanted")


def parameters_of(function: Callable[..., Any], is_method: bool) -> list[Parameter]:
    """The parameters of a kernel."""
    found: list[Parameter] = []
    for k, p in enumerate(inspect.signature(function).parameters.values()):
        if k == 0 and is_method:
            continue
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise SyntaxError_(f"kernel {function.__name__}: `*{p.name}` is not supported")
        if p.default is not p.empty:
            raise SyntaxError_(f"kernel {function.__name__}: argument `{p.name}` has a default value, which kernels do not support")
        if k == 0 and p.name == "self" and p.annotation is p.empty:  # a method, called with its object
            found.append(parameter_for(p.name, Template))
            continue
        if p.annotation is p.empty:
            raise SyntaxError_(f"kernel {function.__name__}: argument `{p.name}` needs a type annotation")
        found.append(parameter_for(p.name, resolve(function, p.annotation)))
    return found
