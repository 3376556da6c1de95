"""The documents of datasets, in the JSON of flashinfer-bench; SOL-ExecBench's are read, too."""
