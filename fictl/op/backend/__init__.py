"""Which way of an op a call gets: what is declared, checked, chosen and remembered."""
