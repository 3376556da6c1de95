"""Child processes: start one with a request, read its messages, end it with its descendants."""
