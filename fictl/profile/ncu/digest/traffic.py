"""Bytes that a launch moved, by the memory that it moved them at."""

from __future__ import annotations

from fictl.profile.ncu.launch import Launch

_SECTOR = 32
_L1 = {
    "L1 global loads": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "L1 global stores": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "L1 local loads": "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "L1 local stores": "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
}


def traffic(launch: Launch) -> dict[str, float]:
    """Bytes by memory, as far as they were collected. Local memory is spills and arrays."""
    rate = launch.get("dram__bytes.sum.per_second")
    dram = {"DRAM": rate * launch.seconds} if rate is not None and launch.seconds else {}
    sectors = {memory: launch.get(name) for memory, name in _L1.items()}
    return dram | {
        memory: _SECTOR * count for memory, count in sectors.items() if count is not None
    }
