"""Dumps of calls: inputs written before the call, outputs after it; the writer and the format."""
