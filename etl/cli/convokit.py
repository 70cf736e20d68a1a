"""``python -m jobs convokit``: write an export as a ConvoKit corpus."""

from pathlib import Path

from conf.settings import Settings
from etl.publishing.convokit import write_convokit
from etl.publishing.exports import export_folder


def open_convokit(settings: Settings, export: str | None, out: str | None) -> int:
    """Write the corpus, print its size and its folder, and return the exit status.

    Args:
        export: folder of the export; None for that of ``export_dataset`` by the settings.
        out: folder of the corpus; None for one beside the export.

    Raises:
        InputError: there is no export with texts, or the folder holds something else.
    """
    source = Path(export or export_folder(settings.lakehouse.root, settings.publishing, settings.lakehouse.set))
    folder = Path(out) if out else source.with_name(f"{source.name}-convokit")
    conversations, utterances = write_convokit(source, folder)
    print(f"{conversations:,} conversations with {utterances:,} utterances in {folder}")
    return 0
