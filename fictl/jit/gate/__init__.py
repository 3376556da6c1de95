"""The gate of a build: remarks of ptxas that cost most of a kernel's speed, and declared spills."""
