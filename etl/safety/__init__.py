"""The gate between a person who types and a model that answers: what speaks of danger, and what is said then.

The folder holds all of it: rules, lines to learn from and to judge by (``data``), and weights. What people are told in
place of a model's answer is configuration, in ``conf/safety``.
"""
