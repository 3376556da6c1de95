"""What a worker does with the requests of its driver."""
