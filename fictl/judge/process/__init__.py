"""How a judged process comes to be, is talked with from outside, and is ended with all it started."""
