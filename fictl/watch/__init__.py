"""The loop of `fictl watch`: on save, build, test and bench, each step in its own process."""
