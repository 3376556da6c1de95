"""What a command would do to files: shown, compared, carried out as a whole, taken back."""
