"""What lies on disk: finished builds, how one is written, published, held and found again."""
