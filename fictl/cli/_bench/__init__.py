"""Parts of `fictl bench`: its options, test lists, progress, and the table that it shows."""
