"""Warm-up: build before the next start what a program needed in this one."""

COMMANDS = {
    "record": "Run a program, and keep which modules it needs",
    "build": "Build exactly those modules",
}
