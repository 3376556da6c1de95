"""What the plugin does inside of pytest: gates, schedules, ranks, and a record of each outcome."""
