"""A folder of documents: where each lies, what stands in it line by line, whether it is sound."""
