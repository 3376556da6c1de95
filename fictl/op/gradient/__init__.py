"""Gradients of a public function whose argument requires grad: its backward, or a refusal."""
