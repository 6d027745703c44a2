"""What the packages `quadrants` and `taichi` of this folder have in common: their names, one to one, over Retrograd.

A name that is not listed here is Retrograd's name of the same place: `qd.field` is `rg.field`, `qd.types.vector` is `rg.types.vector`.
Errors are the same classes under their prefixed names. `init` drops the options that have no meaning here, and reads the environment.
"""

import copy
import enum
import importlib.util
import os
import sys
from types import ModuleType, SimpleNamespace

import refusals

import retrograd as rg
from retrograd._lang.dtypes import ALL
from retrograd._lang.runtime import ARCHS

# Options of `init` that Retrograd does not have, with what they are where nobody gives them.
DROPPED = {
    "ad_stack_experimental_enabled": False, "ad_stack_size": 0, "ad_stack_sparse_threshold_bytes": 100 << 20, "default_ad_stack_size": 256,
    "advanced_optimization": True, "cache_loop_invariant_global_vars": True, "cfg_optimization": True, "cpu_block_dim_adaptive": True,
    "cpu_fixed_block_dim": 0, "cpu_per_worker_min_block_dim": 0, "cpu_work_scheduling": None, "cuda_stack_limit": 0, "debug_dump_path": "",
    "default_cpu_block_dim": 0, "default_gpu_block_dim": 0, "demote_dense_struct_fors": True, "detect_read_only": True,
    "dynamic_index": True, "flatten_if": False, "force_scalarize_matrix": False, "gdb_trigger": False, "gpu_max_reg": 0,
    "half2_vectorization": False, "make_block_local": True, "make_thread_local": True, "max_block_dim": 0,
    "move_loop_invariant_outside_if": False, "num_compile_threads": 0, "offline_cache_cleaning_policy": "lru", "opt_level": 3,
    "print_accessor_ir": False, "print_ir_dbg_info": False, "print_kernel_llvm_ir": False, "print_kernel_llvm_ir_optimized": False,
    "print_preprocessed_ir": False, "print_struct_llvm_ir": False, "quant_opt_atomic_demotion": True, "quant_opt_store_fusion": True,
    "raise_on_templated_floats": False, "real_matrix_scalarize": True, "require_version": None, "saturating_grid_dim": 0,
    "simplify_after_lower_access": True, "simplify_before_lower_access": True, "src_ll_cache": True, "timeline": False,
    "verbose_kernel_launches": False, "vk_api_version": "", "_test_mode": False, "refuse_like_quadrants": False,
}
FROM_ENVIRONMENT = ("offline_cache", "offline_cache_file_path", "debug", "log_level", "refuse_like_quadrants")

ERRORS = {"CompilationError": "CompilationError", "SyntaxError": "SyntaxError_", "NameError": "NameError_", "IndexError": "IndexError_",
          "TypeError": "TypeError_", "RuntimeError": "RuntimeError_", "RuntimeTypeError": "RuntimeTypeError", "AssertionError": "AssertionError_"}


class AutodiffMode(enum.Enum):
    """How a kernel is launched."""

    NONE, VALIDATION, FORWARD, REVERSE = range(4)


class SNodeGradType(enum.Enum):
    """What an array holds."""

    PRIMAL, ADJOINT, DUAL, ADJOINT_CHECKBIT = range(4)


class Options:
    """The options in force: Retrograd's, and those that were dropped."""

    def __init__(self):
        self._dropped = dict(DROPPED)

    def __getattr__(self, name):
        return self._dropped[name] if name in DROPPED else getattr(rg.cfg, name)


options = Options()


def _init(environment, arch=None, default_fp=None, default_ip=None, **given):
    for name in FROM_ENVIRONMENT:
        text = os.environ.get(f"{environment}_{name.upper()}")
        if text:
            given.setdefault(name, text != "0" if text in ("0", "1") else text)
    names = [n for n in given if n in DROPPED]
    options._dropped = {**copy.deepcopy(DROPPED), **{n: given.pop(n) for n in names}}
    rg.init(arch, default_fp, default_ip, **given)
    refusals.install(options.refuse_like_quadrants, not options.ad_stack_experimental_enabled)
    return options


def _runtime():
    """What programs ask of the running program."""
    program = SimpleNamespace(config=lambda: options, get_device_caps=lambda: {})
    return SimpleNamespace(prog=program, default_fp=rg.cfg.default_fp, default_ip=rg.cfg.default_ip, sync=rg.sync, materialize=lambda: None)


def _supported(arch, extension):
    return rg.is_extension_supported(arch, extension)


class Forwarding(ModuleType):
    """A module with names of its own; the others are those of a module of Retrograd."""

    def __init__(self, name, target, **names):
        super().__init__(name)
        self.__path__ = []
        self.__dict__.update(names)
        self.__getattr__ = forward(name, target)


def forward(name, target):
    """What finds a module's names in a part of Retrograd: "" is the package, "types" its module of that name, None nothing."""

    def find(attribute):
        if target is None or attribute.startswith("__"):
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        return getattr(getattr(rg, target) if target else rg, attribute)

    return find


def dress(package, prefix, environment):
    """Give a package its names: errors under a prefix, options from environment variables under another."""
    errors = {prefix + name: getattr(rg, ours) for name, ours in ERRORS.items()}
    extension_of = {"is_extension_supported": _supported, "is_arch_supported": rg.is_arch_supported,
                    "get_host_arch_list": lambda: [rg.x64, rg.arm64]}
    core = {"arch_from_name": ARCHS.__getitem__, "is_extension_supported": _supported, "get_max_num_indices": lambda: 8,
            "DeviceCapability": enum.Enum("DeviceCapability", {})}
    kinds = {"is_integral": lambda t: t.kind in "biu", "is_signed": lambda t: t.kind in "if", "is_real": lambda t: t.is_float}
    modules = {
        "lang": ("", {}), "lang.exception": (None, errors), "lang.misc": ("", extension_of), "lang.kernel_impl": ("", {}), "lang.ops": ("", {}),
        "lang.matrix": ("", {}), "lang.field": ("", {}), "lang.impl": ("", {**errors, "current_cfg": lambda: options, "get_runtime": _runtime}),
        "lang.util": ("", {"has_pytorch": lambda: importlib.util.find_spec("torch") is not None}),
        "types": ("types", kinds), "types.annotations": ("types", {}), "types.primitive_types": ("", {"all_types": ALL}),
        "types.enums": (None, {"AutodiffMode": AutodiffMode, "SNodeGradType": SNodeGradType}),
        "math": ("math", {}), "ad": ("ad", {}), "algorithms": ("algorithms", {}), "profiler": ("profiler", {}),
        "_lib": (None, {}), "_lib.core": (None, core),
        "_test_tools": (None, {f"{environment.lower()}_init_same_arch": lambda **given: _init(environment, arch=rg.cfg.arch, **given)}),
    }
    top = sys.modules[package]
    top.__dict__.update(errors, is_extension_enabled=lambda extension: _supported(rg.cfg.arch, extension),
                        init=lambda *args, **given: _init(environment, *args, **given), __getattr__=forward(package, ""))
    for path, (target, names) in modules.items():
        made = sys.modules[f"{package}.{path}"] = Forwarding(f"{package}.{path}", target, **names)
        above, _, last = path.rpartition(".")
        setattr(sys.modules[f"{package}.{above}"] if above else top, last, made)
