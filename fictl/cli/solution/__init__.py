"""Solutions of definitions: build, evaluate, profile and export them."""

COMMANDS = {
    "build": "Build a solution",
    "run": "Run it: is it right, how fast",
    "export": "Write an op as a solution",
    "profile": "Profile it with ncu",
    "sanitize": "Find its races and out-of-bounds accesses",
    "tools": "Print these commands as tools of a model",
}
