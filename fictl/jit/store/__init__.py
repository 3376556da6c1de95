"""The store on disk: how finished builds are written, published, locked and looked up."""
