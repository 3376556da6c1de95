"""Kinds of ops: their template trees, found, matched with a signature, rendered, formatted."""
