"""Exports of ops for Hugging Face's `kernels` package: compiled modules with thin Python files."""
