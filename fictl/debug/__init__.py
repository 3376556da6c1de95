"""Debugger session on one benchmark case, stopped in its kernel: cuda-gdb, or gdb if emulated."""
