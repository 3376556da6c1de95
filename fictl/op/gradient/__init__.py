"""What a public function does where an argument requires grad: its backward, or a refusal."""
