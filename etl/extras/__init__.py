"""Additions that nothing of the core imports: each has its own packages, and is found by a setting or by its name."""
