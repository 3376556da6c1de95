"""Reports of a dataset's traces: the best solution of each definition, its speed, and failures of
others.
"""
