"""Dumps: a call's inputs on disk before it runs, its outputs after; the writer and the format."""
