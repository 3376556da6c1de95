"""Parts of `fictl history`: the tables that it shows."""
