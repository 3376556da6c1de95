"""The store on disk: finished builds, and how one is written, published, held and looked up."""
