"""Parts of `fictl sanitize`: its options, the files that it writes, and what it shows."""
