"""Evaluators: each decides for one kind of computation whether outputs are correct."""
