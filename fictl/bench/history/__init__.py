"""Times of ops over the commits of their project: kept as JSON lines, judged as compare does."""
