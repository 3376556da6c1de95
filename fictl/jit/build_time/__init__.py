"""Build time by phase, header and kernel, and the cost of the last edit."""
