"""What runs in the process of an op that is profiled."""
