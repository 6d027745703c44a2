"""Python's operators, for scalars of kernels and for vectors."""

from __future__ import annotations

from typing import Any


class Operators:
    """Operators by their symbols: see `operate`."""

    __slots__ = ()
    __array_priority__ = 1000.0
    __array_ufunc__ = None

    def operate(self, symbol: str, x: Any, y: Any) -> Any:
        """`x symbol y`, of which one is this value."""
        raise NotImplementedError

    def __add__(self, y: Any) -> Any:
        return self.operate("+", self, y)

    def __radd__(self, x: Any) -> Any:
        return self.operate("+", x, self)

    def __sub__(self, y: Any) -> Any:
        return self.operate("-", self, y)

    def __rsub__(self, x: Any) -> Any:
        return self.operate("-", x, self)

    def __mul__(self, y: Any) -> Any:
        return self.operate("*", self, y)

    def __rmul__(self, x: Any) -> Any:
        return self.operate("*", x, self)

    def __truediv__(self, y: Any) -> Any:
        return self.operate("/", self, y)

    def __rtruediv__(self, x: Any) -> Any:
        return self.operate("/", x, self)

    def __floordiv__(self, y: Any) -> Any:
        return self.operate("//", self, y)

    def __rfloordiv__(self, x: Any) -> Any:
        return self.operate("//", x, self)

    def __mod__(self, y: Any) -> Any:
        return self.operate("%", self, y)

    def __rmod__(self, x: Any) -> Any:
        return self.operate("%", x, self)

    def __pow__(self, y: Any) -> Any:
        return self.operate("**", self, y)

    def __rpow__(self, x: Any) -> Any:
        return self.operate("**", x, self)

    def __and__(self, y: Any) -> Any:
        return self.operate("&", self, y)

    def __rand__(self, x: Any) -> Any:
        return self.operate("&", x, self)

    def __or__(self, y: Any) -> Any:
        return self.operate("|", self, y)

    def __ror__(self, x: Any) -> Any:
        return self.operate("|", x, self)

    def __xor__(self, y: Any) -> Any:
        return self.operate("^", self, y)

    def __rxor__(self, x: Any) -> Any:
        return self.operate("^", x, self)

    def __lshift__(self, y: Any) -> Any:
        return self.operate("<<", self, y)

    def __rlshift__(self, x: Any) -> Any:
        return self.operate("<<", x, self)

    def __rshift__(self, y: Any) -> Any:
        return self.operate(">>", self, y)

    def __rrshift__(self, x: Any) -> Any:
        return self.operate(">>", x, self)

    def __lt__(self, y: Any) -> Any:
        return self.operate("<", self, y)

    def __le__(self, y: Any) -> Any:
        return self.operate("<=", self, y)

    def __gt__(self, y: Any) -> Any:
        return self.operate(">", self, y)

    def __ge__(self, y: Any) -> Any:
        return self.operate(">=", self, y)

    def __eq__(self, y: Any) -> Any:
        return self.operate("==", self, y)

    def __ne__(self, y: Any) -> Any:
        return self.operate("!=", self, y)

    def __hash__(self) -> int:
        return id(self)
