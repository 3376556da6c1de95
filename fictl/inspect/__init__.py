"""What the compilers made of a kernel: resources, instructions, and gates on them; no GPU is used."""
