"""Prebuilt modules for other machines: building ahead of time, and verifying."""
