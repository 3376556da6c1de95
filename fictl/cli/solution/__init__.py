"""Solutions of definitions: build, evaluate, profile and export them."""

COMMANDS = ("build", "run", "export", "profile", "sanitize", "tools")
