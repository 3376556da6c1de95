"""Parts of `fictl watch`: its screen, and the words on it."""
