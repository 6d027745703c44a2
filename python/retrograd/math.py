"""Mathematics of kernels, and of Python: functions of scalars, vectors and matrices, types of small vectors, constants.

>>> import retrograd as rg
>>> rg.math.clamp(rg.math.vec3(-1, 0.5, 7), 0.0, 1.0)
[0.0, 0.5, 1.0]
"""

from __future__ import annotations

import math as _host
from typing import Any

from ._lang.functions import (abs, acos, acosh, asin, asinh, atan, atan2, atanh, cbrt, ceil, clz, cos, cosh, erf, erfc, exp, exp2, expm1, ffs,
                              floor, frexp, hypot, log, log1p, log2, log10, max, min, one, popcnt, pow, round, rsqrt, select, sin, sinh, sqrt,
                              tan, tanh, trunc, zero)
from ._lang.functions import elementwise as _elementwise
from ._lang.matrix import Matrix as _Matrix
from ._lang.matrix import MatrixType as _MatrixType

pi, e, inf, nan = _host.pi, _host.e, _host.inf, _host.nan
vec2, vec3, vec4 = (_MatrixType(n, None, float) for n in (2, 3, 4))
ivec2, ivec3, ivec4 = (_MatrixType(n, None, int) for n in (2, 3, 4))
mat2, mat3, mat4 = (_MatrixType(n, n, float) for n in (2, 3, 4))


def _unsigned() -> tuple[_MatrixType, ...]:
    from ._lang.dtypes import u32

    return tuple(_MatrixType(n, None, u32) for n in (2, 3, 4))


uvec2, uvec3, uvec4 = _unsigned()  # of u32, whatever `default_ip` is


# -- of scalars, elementwise ---------------------------------------------------------------------------------------------


def clamp(x: Any, xmin: Any, xmax: Any) -> Any:
    """min(xmax, max(xmin, x)); the derivative is 1 from bound to bound."""
    return min(xmax, max(xmin, x))


def mix(x: Any, y: Any, a: Any) -> Any:
    """x * (1 - a) + y * a."""
    return x * (1 - a) + y * a


def step(edge: Any, x: Any) -> Any:
    """0.0 where x < edge, else 1.0."""
    return select(x < edge, 0.0, 1.0)


def smoothstep(edge0: Any, edge1: Any, x: Any) -> Any:
    """From 0 at edge0 to 1 at edge1, by t * t * (3 - 2 * t)."""
    t = clamp((x - edge0) / (edge1 - edge0), 0.0, 1.0)
    return t * t * (3 - 2 * t)


def fract(x: Any) -> Any:
    """x - floor(x)."""
    return x - floor(x)


def sign(x: Any) -> Any:
    """-1, 0 or 1, of x's type."""
    return select(x > 0, one(x), select(x < 0, -one(x), zero(x)))


def mod(x: Any, y: Any) -> Any:
    """x - y * floor(x / y)."""
    return x % y


def degrees(x: Any) -> Any:
    """An angle in radians, in degrees."""
    return x * (180 / pi)


def radians(x: Any) -> Any:
    """An angle in degrees, in radians."""
    return x * (pi / 180)


def isnan(x: Any) -> Any:
    """Whether x is no number."""
    return _elementwise(lambda a: a != a, x)


def isinf(x: Any) -> Any:
    """Whether x is infinite."""
    return _elementwise(lambda a: abs(a) == inf, x)


# -- of vectors ----------------------------------------------------------------------------------------------------------


def dot(x: Any, y: Any) -> Any:
    """The inner product."""
    return x.dot(y)


def cross(x: Any, y: Any) -> Any:
    """The cross product; of vectors in the plane a scalar."""
    return x.cross(y)


def length(x: Any) -> Any:
    """The Euclidean length."""
    return x.norm()


def distance(x: Any, y: Any) -> Any:
    """The length of x - y."""
    return (x - y).norm()


def normalize(v: Any) -> Any:
    """v over its length."""
    return v / v.norm()


def reflect(x: Any, n: Any) -> Any:
    """x, mirrored at the plane with the unit normal n."""
    return x - 2 * x.dot(n) * n


def refract(x: Any, n: Any, eta: Any) -> Any:
    """The direction behind a surface with the unit normal n, from a unit direction and the ratio of refraction; 0 if all is reflected."""
    cosine = x.dot(n)
    k = 1 - eta * eta * (1 - cosine * cosine)
    return select(k >= 0, eta * x - (eta * cosine + sqrt(max(k, 0.0))) * n, zero(x))


def vdir(ang: Any) -> _Matrix:
    """The unit vector at an angle."""
    return vec2(cos(ang), sin(ang))


# -- of matrices ---------------------------------------------------------------------------------------------------------


def eye(n: int) -> _Matrix:
    """The identity matrix."""
    return _Matrix.identity(float, n)


def determinant(m: Any) -> Any:
    """The determinant, of at most 4 rows."""
    return m.determinant()


def inverse(mat: Any) -> Any:
    """The inverse, of at most 4 rows."""
    return mat.inverse()


def translate(dx: Any, dy: Any, dz: Any) -> _Matrix:
    """The 4x4 matrix that moves column vectors (x, y, z, 1)."""
    return mat4([[1, 0, 0, dx], [0, 1, 0, dy], [0, 0, 1, dz], [0, 0, 0, 1]])


def scale(sx: Any, sy: Any, sz: Any) -> _Matrix:
    """The 4x4 matrix that scales."""
    return mat4([[sx, 0, 0, 0], [0, sy, 0, 0], [0, 0, sz, 0], [0, 0, 0, 1]])


def rotation2d(ang: Any) -> _Matrix:
    """The 2x2 matrix that turns column vectors counter-clockwise."""
    c, s = cos(ang), sin(ang)
    return mat2([[c, -s], [s, c]])


def rot_by_axis(axis: Any, ang: Any) -> _Matrix:
    """The 4x4 matrix that turns row vectors about an axis."""
    x, y, z = normalize(axis if isinstance(axis, _Matrix) else vec3(axis)).entries
    c, s = cos(ang), sin(ang)
    t = 1 - c
    return mat4([[t * x * x + c, t * x * y + s * z, t * x * z - s * y, 0],
                 [t * x * y - s * z, t * y * y + c, t * y * z + s * x, 0],
                 [t * x * z + s * y, t * y * z - s * x, t * z * z + c, 0],
                 [0, 0, 0, 1]])


def rot_yaw_pitch_roll(yaw: Any, pitch: Any, roll: Any) -> Any:
    """The 4x4 matrix of rotations of row vectors about z by roll, about x by pitch and about y by yaw."""
    return rot_by_axis([0, 0, 1], roll) @ rot_by_axis([1, 0, 0], pitch) @ rot_by_axis([0, 1, 0], yaw)


def rotation3d(ang_x: Any, ang_y: Any, ang_z: Any) -> Any:
    """`rot_yaw_pitch_roll(ang_z, ang_x, ang_y)`."""
    return rot_yaw_pitch_roll(ang_z, ang_x, ang_y)


# -- of complex numbers, as vectors of 2 -----------------------------------------------------------------------------------


def cconj(z: Any) -> _Matrix:
    """The conjugate."""
    return vec2(z[0], -z[1])


def cmul(z1: Any, z2: Any) -> _Matrix:
    """z1 * z2."""
    return vec2(z1[0] * z2[0] - z1[1] * z2[1], z1[0] * z2[1] + z1[1] * z2[0])


def cinv(z: Any) -> Any:
    """1 / z."""
    return cconj(z) / z.dot(z)


def cdiv(z1: Any, z2: Any) -> _Matrix:
    """z1 / z2."""
    return cmul(z1, cinv(z2))


def csqrt(z: Any) -> Any:
    """The square root in the right half plane; 0 at 0."""
    return cpow(z, 0.5)


def cpow(z: Any, n: Any) -> Any:
    """z to the real power n; 0 at 0."""
    square, angle = z.dot(z), atan2(z[1], z[0]) * n
    return select(square > 0, pow(square, n * 0.5) * vec2(cos(angle), sin(angle)), zero(z))


def cexp(z: Any) -> Any:
    """e to the z."""
    return exp(z[0]) * vec2(cos(z[1]), sin(z[1]))


def clog(z: Any) -> _Matrix:
    """The logarithm; its imaginary part is above -pi and at most pi."""
    return vec2(log(z.dot(z)) * 0.5, atan2(z[1], z[0]))


__all__ = [name for name in dict(globals()) if not name.startswith("_") and name not in ("annotations", "Any")]
