"""Generated tests: every case of an op, called in every way that its trace allows."""
