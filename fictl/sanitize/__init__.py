"""Finding what is wrong with kernels that pass their tests."""
