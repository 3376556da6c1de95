"""Inspection of compiled kernels: resources, instructions, and gates on them; needs no GPU."""
