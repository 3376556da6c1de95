"""Commands of fictl spread over places, one op each, and their answers put together."""
