"""`init`, `reset`, `sync`, and the options in force."""

from __future__ import annotations

import enum
import os
from typing import Any, Callable

from .. import _core
from . import dtypes
from .dtypes import DType
from .errors import RuntimeError_
from .missing import missing


class Arch:
    """A kind of device.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.cuda.name
    'cuda'
    """

    __slots__ = ("name", "device")

    def __init__(self, name: str, device: str) -> None:
        self.name, self.device = name, device

    def __repr__(self) -> str:
        return f"<Arch.{self.name}>"

    def __copy__(self) -> "Arch":
        return self

    def __deepcopy__(self, memo: Any) -> "Arch":
        return self

    def __reduce__(self) -> Any:
        return _arch, (self.name,)

    def __getattr__(self, name: str) -> Any:
        raise missing(f"the arch {self.name}", name)


x64, arm64 = Arch("x64", "cpu"), Arch("arm64", "cpu")
cuda, amdgpu, vulkan, metal = Arch("cuda", "cuda"), Arch("amdgpu", "amd"), Arch("vulkan", "vulkan"), Arch("metal", "metal")
simt = Arch("simt", "simt")
cpu = arm64 if os.uname().machine == "aarch64" else x64
gpu = [cuda, amdgpu, metal]
ARCHS = {a.name: a for a in (x64, arm64, cuda, amdgpu, vulkan, metal, simt)}


def _arch(name: str) -> Arch:
    return ARCHS[name]


class extension(enum.Enum):
    """What a device may be able to do: see `is_extension_supported`."""

    adstack, data64, assertion, bls, sparse, quant, quant_basic, mesh, dynamic_index = range(9)


class Config:
    """The options of `init` that are in force."""

    def __init__(self) -> None:
        self.arch: Arch = cpu
        self.default_fp: DType = dtypes.f32
        self.default_ip: DType = dtypes.i32
        self.debug = False
        self.check_out_of_bound = False
        self.fast_math = False
        self.offline_cache = True
        self.offline_cache_file_path: str | None = None
        self.random_seed = 0
        self.cpu_max_num_threads = 0
        self.device_memory_GB = 0.0
        self.device_memory_fraction = 0.0
        self.print_ir = False
        self.log_level = "warn"
        self.print_full_traceback = False
        self.unrolling_limit = 32
        self.short_circuit_operators = True
        self.kernel_profiler = False
        self.deterministic = False
        self.verbose = True

    def __repr__(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())

    @property
    def default_up(self) -> DType:
        """The unsigned type of the default integers' width."""
        return dtypes.u64 if self.default_ip.bits == 64 else dtypes.u32

    @property
    def checked(self) -> bool:
        """Whether subscripts are compared with the extents."""
        return self.debug or self.check_out_of_bound


cfg = Config()


class Runtime:
    """What lives from `init` to `reset`."""

    def __init__(self) -> None:
        self.generation = 0  # counts resets: kernels and arrays of earlier ones are not used any more
        self.active = False
        self.queue: _core.Queue | None = None
        self.at_reset: list[Callable[[], None]] = []
        self.device = "cpu"
        self.launches = 0  # of kernels that draw random numbers


runtime = Runtime()


def need_init() -> Runtime:
    """The runtime, started with the defaults where the program did not."""
    if not runtime.active:
        raise RuntimeError_("call `retrograd.init()` first")
    return runtime


def _usable(arch: Arch) -> str | None:
    try:
        return _core.device(arch.device).name
    except _core.Error:
        return None


def is_arch_supported(arch: Arch) -> bool:
    """Whether there is such a device here."""
    return _usable(arch) is not None


def is_extension_supported(arch: Arch, what: extension) -> bool:
    """Whether devices of a kind can do something.

    Examples
    --------
    >>> import retrograd as rg
    >>> rg.is_extension_supported(rg.cpu, rg.extension.data64)
    True
    """
    if what is extension.bls:
        return arch is cuda
    if what is extension.assertion:
        return arch.device in ("cpu", "cuda", "amd")
    return what in (extension.adstack, extension.data64, extension.dynamic_index)


def _archs(given: Any) -> list[Arch]:
    """The kinds of devices that `init` may take, in order."""
    named = os.environ.get("RG_ARCH")
    wanted: list[Any] = list(named.split(",")) if named else [cpu] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
    found: list[Any] = [gpu if a == "gpu" else cpu if a == "cpu" else ARCHS.get(a) if isinstance(a, str) else a for a in wanted]
    flat = [a for each in found for a in (each if isinstance(each, list) else [each])]
    if not flat or not all(isinstance(a, Arch) for a in flat):
        raise ValueError(f"{'RG_ARCH' if named else 'arch'} is one or several of cpu, gpu, {', '.join(ARCHS)}, not {named or given!r}")
    return flat


def _fits(value: Any, default: Any) -> bool:
    """Whether a value may be given for an option with this default."""
    if isinstance(default, bool):
        return isinstance(value, bool)
    if isinstance(default, (int, float)):
        return isinstance(value, (int, float) if isinstance(default, float) else int) and not isinstance(value, bool) and value >= 0
    return isinstance(value, (str, os.PathLike)) or value is default


def init(arch: Any = None, default_fp: Any = None, default_ip: Any = None, **options: Any) -> None:
    """Start, or start anew: fields and arrays of before cannot be used any more.

    Parameters
    ----------
    arch : Arch or list of Arch, optional
        `cpu`, `cuda`, ...; of a list, like `gpu`, the first that is there. The environment variable RG_ARCH comes first.
    default_fp, default_ip : optional
        Types of Python's floats and integers in kernels: `f32`, `i32`.
    **options
        `debug`, `check_out_of_bound`, `fast_math`, `offline_cache`, `offline_cache_file_path`, `random_seed`, `cpu_max_num_threads`,
        `device_memory_GB` or `device_memory_fraction` (of a tape), `kernel_profiler`, `deterministic`, `verbose`, `log_level` ("info": one
        line says what runs), `print_ir`, `print_full_traceback` (errors in kernels show the compiler's own calls, too), `unrolling_limit`
        (static loops of more iterations are warned of; 0: none), `short_circuit_operators` (False: `and` and `or` evaluate all operands); and
        `enable_fallback`: whether the CPU takes the place of a device that is not there.
    """
    fresh = Config()
    fallback = options.pop("enable_fallback", True)
    for name, value in options.items():
        if name not in fresh.__dict__:
            raise KeyError(f"'{name}': there is no such option of init")
        if not _fits(value, default := getattr(fresh, name)):
            raise TypeError(f"{name}={value!r}: the option takes a {'str' if default is None else type(default).__name__}")
        setattr(fresh, name, value)
    for name, given, kind in (("default_fp", default_fp, "f"), ("default_ip", default_ip, "i")):
        if given is not None:
            dtype = {float: dtypes.f32, int: dtypes.i32}.get(given, given)
            if not isinstance(dtype, DType) or dtype.kind != kind:
                raise TypeError(f"{name} is a type such as {'f64' if kind == 'f' else 'i64'}, not {given!r}")
            setattr(fresh, name, dtype)
    archs = _archs(arch)
    found = next(((a, device) for a in archs if (device := _usable(a)) is not None), None)
    if found is None and not fallback:
        raise RuntimeError_(f"no device of {', '.join(a.name for a in archs)} is usable here")
    reset()
    fresh.arch, runtime.device = found or (cpu, "cpu")
    cfg.__dict__.update(fresh.__dict__)
    memory = _core.device(runtime.device).info()["memory"] if fresh.device_memory_fraction else 0
    budget = int(fresh.device_memory_GB * 2**30 or fresh.device_memory_fraction * memory)
    if fresh.cpu_max_num_threads or budget:
        runtime.queue = _core.Queue(runtime.device, num_threads=fresh.cpu_max_num_threads, tape_budget=budget)
        runtime.queue.__enter__()
    runtime.active = True
    if fresh.verbose and fresh.log_level in ("debug", "trace", "info"):
        print(f"[Retrograd] version {_core.version}, arch={fresh.arch.name}")


def reset() -> None:
    """Free everything: fields and arrays cannot be used any more."""
    for function in runtime.at_reset:
        function()
    runtime.generation += 1
    runtime.launches = 0
    if runtime.queue is not None:
        runtime.queue.__exit__(None, None, None)
        runtime.queue = None
    runtime.active = False
    runtime.device = "cpu"


def sync() -> None:
    """Wait for all launches, and raise what failed in them."""
    _core.current_queue(runtime.device).sync()
