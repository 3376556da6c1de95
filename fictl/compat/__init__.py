"""Other libraries' names for what fictl has."""
