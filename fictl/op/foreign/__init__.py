"""Calls of public functions with arrays of NumPy, CuPy, JAX and others."""
