"""What a solution's process may not do: write outside its folder, reach a network, find the others."""
