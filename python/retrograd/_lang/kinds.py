"""Fields, ndarrays and tensors by their elements: classes to ask with `isinstance`, under the names that Taichi and Quadrants have for them."""

from __future__ import annotations

from typing import Any

from .fields import Field
from .ndarrays import Ndarray
from .tensors import Tensor


class ByElement(type):
    """The class of classes of data whose elements have so many axes."""

    axes: tuple[int, ...]

    def __new__(mcs, name: str, bases: tuple[type, ...], names: dict[str, Any], axes: tuple[int, ...]) -> Any:
        made = super().__new__(mcs, name, bases, {**names, "__slots__": ()})
        made.axes = axes
        return made

    def __init__(cls, name: str, bases: tuple[type, ...], names: dict[str, Any], axes: tuple[int, ...]) -> None:
        super().__init__(name, bases, names)

    def __instancecheck__(cls, x: Any) -> bool:
        whole: Any = cls.__base__
        return isinstance(x, whole) and len(x.element_shape) in cls.axes

    def __call__(cls, of: Any) -> Any:
        whole: Any = cls.__base__
        made = whole(of) if whole is Tensor else of
        if not isinstance(made, cls):
            raise TypeError(f"{of!r} is no {cls.__name__}")
        return made


class ScalarField(Field, metaclass=ByElement, axes=(0,)):
    """A field of scalars."""


class MatrixField(Field, metaclass=ByElement, axes=(1, 2)):
    """A field of vectors or matrices."""


class ScalarNdarray(Ndarray, metaclass=ByElement, axes=(0,)):
    """An ndarray of scalars."""


class VectorNdarray(Ndarray, metaclass=ByElement, axes=(1,)):
    """An ndarray of vectors."""


class MatrixNdarray(Ndarray, metaclass=ByElement, axes=(2,)):
    """An ndarray of matrices."""


class VectorTensor(Tensor, metaclass=ByElement, axes=(1,)):
    """A tensor of vectors; a call wraps a field or an ndarray."""


class MatrixTensor(Tensor, metaclass=ByElement, axes=(2,)):
    """A tensor of matrices; a call wraps a field or an ndarray."""
