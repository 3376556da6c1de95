"""Builds of ops' modules: building, the cache, the catalogue and the settings in force."""
