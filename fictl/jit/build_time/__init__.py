"""Where the time of a build goes: phases, headers, kernels, and what the last edit cost."""
