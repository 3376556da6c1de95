"""Parts of `fictl new-op`: its options, and the questions that it asks on a terminal."""
