"""GPU locks: what measures has a GPU for itself, among all users of a machine; tests share it."""
