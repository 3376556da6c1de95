"""A new op from a Definition: what it takes, gives and computes is said there already."""
