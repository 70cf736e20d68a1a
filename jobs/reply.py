"""``python -m jobs.reply --model models:/NAME@champion``: answers typed lines, in an intent where one is asked."""

import sys

from etl.lakehouse.commands.reply_shell import main

if __name__ == "__main__":
    sys.exit(main())
