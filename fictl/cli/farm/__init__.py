"""Places of other machines: try them, list them, see what runs."""

COMMANDS = {
    "check": "Say what each place can do, and which cannot work",
    "init": "Write a first file of places",
    "status": "Show what runs at places now",
    "up": "Start a Ray cluster on this machine, to try it",
    "down": "End the clusters that were started here",
}
