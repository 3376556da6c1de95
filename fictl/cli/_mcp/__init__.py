"""The server of `fictl mcp`: commands as tools of a coding agent."""
