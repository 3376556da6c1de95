"""The functions of a module: built at the first call, then called straight or seen by torch."""
