"""Two runs of `fictl profile` side by side: which kernel, which stall, which bytes."""
