"""Code that runs inside sandboxed processes: the solution's part and the reference's part."""
