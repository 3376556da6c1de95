"""fictl: the workbench of people who write CUDA kernels for LLM inference."""
