"""Parts of `fictl profile`: its options, its tools, and what it shows of each."""
