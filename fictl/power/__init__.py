"""Energy of calls: the board's own counter, read while a call is repeated."""
