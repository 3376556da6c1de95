"""The program that measures one op, in a process of its own that the op may crash."""
