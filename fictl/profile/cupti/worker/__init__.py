"""The program of the process in which an op is profiled."""
