"""A debugger on one benchmark case of an op, stopped in its kernel: cuda-gdb, or gdb emulated."""
