"""Hooks of the plugin inside pytest: gates, schedules, ranks, and the record of outcomes."""
