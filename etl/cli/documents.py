"""Write the reference under ``docs/`` from the declarations: ``python -m etl.cli.documents``."""

from pathlib import Path

from etl.cli.reference import presets_page, settings_page, stages_page, tables_page, views_page
from jobs import all_stages

ROOT = Path(__file__).resolve().parents[2]


def outdated() -> dict[str, str]:
    """Return the text of each page that differs from the declarations of stages, tables, views and settings."""
    pages = {
        "docs/stages.md": stages_page(all_stages()),
        "docs/tables.md": tables_page(),
        "docs/views.md": views_page(),
        "docs/settings.md": settings_page(),
        "docs/presets.md": presets_page(),
    }
    return {path: text for path, text in pages.items() if (ROOT / path).read_text("utf-8") != text}


if __name__ == "__main__":
    found = outdated()
    for path, text in found.items():
        (ROOT / path).write_text(text, "utf-8")
    print(f"written: {', '.join(found) or 'nothing, all pages are up to date'}")
