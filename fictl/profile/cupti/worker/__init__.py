"""The program of the process that profiles an op."""
