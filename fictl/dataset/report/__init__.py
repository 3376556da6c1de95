"""Reports of a dataset's traces: the best of each definition, how fast, and why others fail."""
