"""A public function on the tensors of its trace: select, make, allocate, poison, call, compare."""
