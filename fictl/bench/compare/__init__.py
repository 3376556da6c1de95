"""Comparison of timings: two results, two sides of one run, or two revisions of the sources."""
