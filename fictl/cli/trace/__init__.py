"""What ops compute: their traces, and the benchmark definitions made of them."""

COMMANDS = ("list", "export", "check", "run")
