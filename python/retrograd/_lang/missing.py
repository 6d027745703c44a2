"""Names of Taichi and Quadrants that Retrograd does not have, with what takes their place."""

from __future__ import annotations

_GROUPS = {
    "sparse activate deactivate deactivate_all_snodes is_active append length get_addr rescale_index BitpackedFields quant sparse_matrix_builder":
        "fields are dense, of whole numbers of bytes: sparse and quantised structures are not supported",
    "linalg": "sparse matrices and their solvers are not supported: those of SciPy take `to_numpy()`, and an iteration can be a kernel",
    "Mesh MeshInstance TetMesh TriMesh mesh_local mesh_patch_idx": "meshes are not supported: fields of indices say what is beside what",
    "global_thread_idx block_idx clock_counter clock_freq_hz volatile_load block subgroup warp grid Tile16x16 Tile32x32":
        "operations of the threads of a block are not supported: kernels say what is parallel by their loops, and add up by `+=`",
    "GUI ui Window tools": "windows and pictures are not supported: matplotlib and others take `to_numpy()`",
    "Stream Event create_stream create_event stream_parallel": "streams are not there for kernels written in Python: launches run in their order. "
        "Kernels in C run in an `rg.Queue`",
    "graph_do_while graph_parallel graph_parallel_context checkpoint GraphStatus": "loops and branches in graphs are not supported: a `while` in the kernel "
        "runs on the device, and `rg.ad.checkpoint` computes again instead of keeping",
    "BufferView": "`types.ndarray()` takes arrays, and views of NumPy's and torch's that are contiguous",
    "SNode": "fields are placed under `root`, and know their `parent()`",
    "set_logging_level is_logging_effective TRACE DEBUG INFO WARN ERROR CRITICAL": "`log_level` is an option of `init`; RG_DEBUG=help lists what can be printed",
    "dump_compile_config": "`cfg` has the options",
    "is_extension_enabled": "`is_extension_supported(arch, extension)` says what an arch has",
    "perf_dispatch": "call the kernel that is faster: `rg.init(kernel_profiler=True)` measures",
    "pure": "kernels are kept on disk without it",
    "Format DeviceCapability interop": "images and other interfaces of graphics are not supported",
    "x86_64": "`x64` or `cpu`",
    "ref": "`template()` passes by reference",
    "aot": "`rgc grad` compiles kernels ahead of time",
    "experimental": "what stood there has its own name, as `real_func`, or is not supported",
}
INSTEAD = {name: text for names, text in _GROUPS.items() for name in names.split()}


def missing(where: str, name: str) -> AttributeError:
    """The error for a name that is not there."""
    return AttributeError(f"{where} has no attribute {name!r}" + (f": {INSTEAD[name]}" if name in INSTEAD else ""))
