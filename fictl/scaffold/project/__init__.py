"""A new project, or what an existing repository lacks to be one."""
