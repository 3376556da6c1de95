"""Documents of datasets, in flashinfer-bench's JSON; SOL-ExecBench's documents are read, too."""
