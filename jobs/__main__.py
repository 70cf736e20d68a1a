"""``python -m jobs COMMAND|STAGE``."""

import sys

from etl.lakehouse.commands import main

if __name__ == "__main__":
    sys.exit(main())
