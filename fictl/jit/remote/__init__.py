"""Builds from and to buckets: object storage, a shared folder or a static web server."""
