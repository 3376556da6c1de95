"""Looking after the cache: what is in it, what is broken, what may go, why a build misses."""
