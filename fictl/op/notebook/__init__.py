"""Kernels while they are written: from text, edited, and loaded anew in the same process."""
