"""Dataset folders: where each document is, the records line by line, and checks."""
