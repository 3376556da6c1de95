"""Builds that judged processes order: made once a run, by nobody but a builder behind the walls."""
