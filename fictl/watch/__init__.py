"""The loop of `fictl watch`: on save build, test, bench; every step in a process of its own."""
