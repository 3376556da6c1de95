"""Parts of `fictl export-op`."""
