"""A new op: what a user says of it, what follows from that, and the draft that templates see."""
