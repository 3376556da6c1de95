"""What a dataset's traces come to: the best of each definition, how fast, and why others fail."""
