"""Settings in force."""

COMMANDS = {
    "show": "Show settings, projects and places in force",
}
