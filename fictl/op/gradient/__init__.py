"""Gradients of public functions: call the op's backward, or refuse arguments that require grad."""
