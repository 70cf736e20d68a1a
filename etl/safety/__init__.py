"""The gate between a person who types and a model that answers: what speaks of danger, and what is said then.

``data`` holds the lists of phrases, and the lines that the classifier learns from and is judged by. What people are
told in place of a model's answer is configuration, in ``conf/safety``.
"""
