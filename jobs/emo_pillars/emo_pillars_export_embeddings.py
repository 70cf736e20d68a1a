"""Export the context-less model's embeddings of dialogues' sentences, as CORECT reads them (Emo Pillars 5.1.4)."""

from etl.lakehouse.stage import Model, StageRun, stage


@stage(
    writes=None,
    asks=(Model("emo_pillars_contextless"),),
    settings=("emo_pillars.sentences", "emo_pillars.embeddings"),
    shows="the file `emo_pillars.embeddings`",
    on_request=True,
)
def emo_pillars_export_embeddings(run: StageRun) -> None:
    from etl.lakehouse.sentence_embeddings import export_embeddings

    export_embeddings(run)


if __name__ == "__main__":
    emo_pillars_export_embeddings.main()
