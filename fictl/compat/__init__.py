"""Names of other libraries for what fictl has."""
