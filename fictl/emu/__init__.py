"""The emulated device: CUDA kernels compiled by the host's C++ compiler and run on its cores."""
