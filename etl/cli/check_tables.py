"""``python -m jobs check-tables``: what is damaged of the tables, before a run finds it."""

from conf.settings import Settings
from etl.pipeline.table_checks import table_faults, table_root


def check_tables(settings: Settings) -> int:
    """Print a line for each damaged table: the file, what is wrong, and the cure.

    Returns:
        The exit status: 0 where all tables are whole, else 2.
    """
    import jobs  # noqa: F401 - declares the stages that make the tables

    root = table_root(settings)
    if root is None:
        print("nothing checked: tables in a catalog or an object store are not checked here")
        return 0
    faults = list(table_faults(settings))
    for fault in faults:
        print(fault)
    if not faults:
        print(f"all tables in {root} are sound")
    return 2 if faults else 0
