"""Recordings: the calls that a program made of FlashInfer's names, without the values of its model."""
