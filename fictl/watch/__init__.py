"""What `fictl watch` does: on save build, test, bench; every step in a process of its own."""
