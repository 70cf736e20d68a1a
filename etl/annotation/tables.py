"""Columns of the tables of questionnaires, which several data sets have."""

FILE = """
    batch_id string, name string, path string, bytes bigint, sha256 string, hits int, items int
    """
