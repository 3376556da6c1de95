"""Running dumped calls again, each in a process of its own, and comparing what they give."""
