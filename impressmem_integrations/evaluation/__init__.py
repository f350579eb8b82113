"""Measuring memory on data that the user has: nothing of it is shipped.

conversations   reads long conversations with questions and their evidence
longconv        the protocol: what share of a question's evidence does a budget hold
"""
