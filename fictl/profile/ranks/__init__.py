"""A profile of several ranks, which call a communication op together: all of them on one timeline."""
