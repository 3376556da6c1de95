"""Taking what was built to other machines."""
