"""The intra-kernel profiler: what kernels record by <fictl/device/profiler.cuh>, as times."""
