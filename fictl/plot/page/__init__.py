"""Results as one file that a browser opens without a network: sorted, filtered and read by hovering."""
