"""Solutions: kernels that answer a definition, built, judged and looked into; and ops as such."""

COMMANDS = ("build", "run", "export", "profile", "sanitize", "tools")
