"""The functions of a module: built at the first call, then called directly or through torch.ops."""
