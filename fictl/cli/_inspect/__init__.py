"""Parts of `fictl inspect`: the tables that it shows."""
