"""Names of Taichi and Quadrants that Retrograd does not have, with what takes their place."""

from __future__ import annotations

_GROUPS = {
    "sparse activate deactivate is_active append rescale_index BitpackedFields quant sparse_matrix_builder":
        "fields are dense, of whole numbers of bytes: sparse and quantised structures are not supported",
    "linalg": "sparse matrices and their solvers are not supported: those of SciPy take `to_numpy()`, and an iteration can be a kernel",
    "Mesh MeshInstance TetMesh TriMesh mesh_local mesh_patch_idx": "meshes are not supported: fields of indices say what is beside what",
    "global_thread_idx block_idx clock_counter clock_freq_hz volatile_load block subgroup warp grid Tile16x16 Tile32x32":
        "operations of the threads of a block are not supported: kernels say what is parallel by their loops, and add up by `+=`",
    "GUI ui Window tools": "windows and pictures are not supported: matplotlib and others take `to_numpy()`",
    "aot": "`rgc grad` compiles kernels ahead of time",
    "experimental": "what stood there has its own name, as `real_func`, or is not supported",
}
INSTEAD = {name: text for names, text in _GROUPS.items() for name in names.split()}


def missing(where: str, name: str) -> AttributeError:
    """The error for a name that is not there."""
    return AttributeError(f"{where} has no attribute {name!r}" + (f": {INSTEAD[name]}" if name in INSTEAD else ""))
