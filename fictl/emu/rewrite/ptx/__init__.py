"""Translates inline PTX into calls of the functions in include/fictl_emu/ptx."""
