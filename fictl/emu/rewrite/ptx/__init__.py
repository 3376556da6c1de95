"""Inline PTX: its instructions become calls of the functions in include/fictl_emu/ptx."""
