"""Ray clusters: a process that speaks with one, an actor for each place, and a cluster to try."""
