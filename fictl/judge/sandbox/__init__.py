"""Restrictions of a solution's process: no writing outside its folder, no network, no other
process.
"""
