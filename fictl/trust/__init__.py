"""Keys and signatures in minisign's format: who may vouch for builds, and for which projects."""
