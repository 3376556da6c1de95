"""Whether outputs are right: one evaluator a kind of computation."""
