"""Plans, the changes of a command to files: shown, compared, carried out as a whole, undone."""
