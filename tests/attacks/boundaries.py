"""Attacks on what comes in beside subtitles: crowd answers, settings, archives, paths, weights, tables, servers.

Each attack makes input number ``n`` of a seed. Its end is *right* (what was intact came through, whole), a *named
fault* (one line that names the place), or else rows lost or doubled; any other exception is a crash.
"""

import gzip
import io
import json
import os
import random
import shutil
import socket
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from conf.errors import InputError
from conf.places import file_uri, is_uri, local_path, sqlite_uri
from conf.settings import load_settings
from tests.attacks.corpora import reading_of
from tests.attacks.documents import document
from tests.attacks.plain import damaged
from tests.attacks.zips import Entry, zip_of
from udfs.answer_files import COLUMNS


class End(NamedTuple):
    """How an input ended: rows lost and doubled, and whether a fault was named."""

    lost: int = 0
    doubled: int = 0
    named: bool = False


def one_line(error: InputError, *words: str) -> End:
    """Return the end of an input that was refused; a message of several lines, or without the words, is a crash."""
    text = str(error)
    assert "\n" not in text, text
    assert len(text) < 2_000, text
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"
    return End(named=True)


# Crowd answers

_JUNK = (
    "",
    " ",
    "x",
    "0",
    "Sad",
    "é",
    "\u2028",
    '""',
    "\ud7ff",
    "a" * 300,
    "=1+1",
    "<b>",
    "null",
    "[]",
    "{}",
    "-1e999",
)


def crowd_files(rng: random.Random, number: int) -> End:
    """A file of answers with one damage; all other answers come back once, and each damage has a fault."""
    from udfs.answer_files import answers_in

    ids = [f"item-{number}-{place}" for place in range(rng.randint(1, 12))]
    name, data, hurt = rng.choice((_answers_as_csv, _answers_as_list, _answers_as_lines))(rng, ids)
    if rng.random() < 0.2:
        name += ".gz"
        data = gzip.compress(data, mtime=0)
    rows = list(answers_in(name, io.BytesIO(data)))
    for row in rows:
        if row.get("fault") is not None:
            assert row["detail"], row
    found = Counter(str(row.get("item_id")) for row in rows if row.get("fault") is None)
    lost = sum(found[one] == 0 for one in set(ids) - hurt)
    doubled = sum(found[one] - 1 for one in ids if found[one] > 1)
    faults = [row for row in rows if row.get("fault") is not None]
    unnamed = max(len(ids) - len(rows), 0)  # a changed id is another answer, which no task has
    return End(lost + unnamed, doubled, bool(faults))


def _answers_as_csv(rng: random.Random, ids: Sequence[str]) -> tuple[str, bytes, set[str]]:
    def line(item: str) -> str:
        value = rng.choice(("Sad", "Joyful", "x é", '"a, b"', '"a ""b"""'))
        return f"b,h,w,{item},1,label,{value},false,3.2,2024-05-01T10:00:00Z"

    lines = [line(item).encode() for item in ids]
    hurt: set[str] = set()
    place = rng.randrange(len(lines))
    kind = rng.randrange(7)
    if kind == 1:
        lines[place] = bytes(one for one in damaged(rng, lines[place]) if one not in b'\r\n"') or b"x"
    elif kind == 2:
        lines[place] = lines[place][: rng.randrange(1, len(lines[place]))].replace(b'"', b"")
    elif kind == 3:
        lines[place] += b"," + rng.choice(_JUNK).encode()
        lines[place] = lines[place].replace(b'"', b"")
    elif kind == 4:
        lines[place] = lines[place].replace(b'"', b"").replace(b"label", rng.choice((b"\xff", b"\xed\xa0\x80")))
    elif kind == 5:
        lines[place] = lines[place].replace(b'"', b"").replace(b",label,", b',"label,')
    if kind in range(1, 6):
        hurt.add(ids[place])
    header = ",".join(COLUMNS)
    if kind == 6:  # a column twice, with other values in one row
        header += ",value"
        lines = [one + b"," + one.split(b",label,")[1].split(b",false")[0] for one in lines]
        lines[place] = lines[place].rpartition(b",")[0].replace(b'"', b"") + b",another"
        hurt.add(ids[place])
        if any(b'"' in one for one in lines):
            return _answers_as_lines(rng, ids)
    end = rng.choice((b"\n", b"\r\n"))
    start = rng.choice((b"", b"\xef\xbb\xbf"))
    return "answers.csv", start + end.join([header.encode(), *lines]) + rng.choice((b"", end)), hurt


def _answer(rng: random.Random, item: str) -> dict[str, Any]:
    answers = {"label": {"value": rng.choice(("Sad", "x é", "[{", "}],")), "other": False}}
    items = [{"item_id": item, "position": 1, "seconds": 3.2, "answers": answers}]
    facts = {"batch_id": "b", "hit_id": "h", "worker_id": "w", "submitted": "2024-05-01T10:00:00Z"}
    return {"format": "edos-lakehouse answers 1", **facts, "answers": items}


def _hurt_json(rng: random.Random, text: str) -> str:
    """Damage the text of an object so that it is no JSON; its first key stays."""
    kind = rng.randrange(5)
    if kind == 0:
        return text[: rng.randrange(60, len(text))].rstrip('"')
    if kind == 1:
        return text[:-1]
    if kind == 2:
        return text.replace('"batch_id": "b"', '"batch_id": ', 1).replace('"batch_id":"b"', '"batch_id":', 1)
    if kind == 3:
        return text.replace("]", "", 1) if "]" in text else text[:-1]
    return f"{text[:-1]}, {rng.choice(('nope', '1 2', ',', ':'))}}}"


def _answers_as_list(rng: random.Random, ids: Sequence[str]) -> tuple[str, bytes, set[str]]:
    indent = rng.choice((None, 1, 2))
    texts = [json.dumps(_answer(rng, item), indent=indent) for item in ids]
    hurt: set[str] = set()
    if rng.random() < 0.8:
        place = rng.randrange(len(ids))
        texts[place] = _hurt_json(rng, texts[place])
        hurt.add(ids[place])
    parted = ",\n" if indent else rng.choice((", ", ",", ",\n"))
    return "answers.json", f"[{parted.join(texts)}]".encode(), hurt


def _answers_as_lines(rng: random.Random, ids: Sequence[str]) -> tuple[str, bytes, set[str]]:
    lines = [json.dumps(_answer(rng, item)).encode() for item in ids]
    hurt: set[str] = set()
    if rng.random() < 0.8:
        place = rng.randrange(len(ids))
        changed = damaged(rng, lines[place]) if rng.random() < 0.5 else _hurt_json(rng, lines[place].decode()).encode()
        lines[place] = changed.replace(b"\n", b" ").replace(b"\r", b" ")
        hurt.add(ids[place])
    return "answers.jsonl", b"\n".join(lines), hurt


# Settings

_VALUES: dict[str, Callable[[random.Random], Any]] = {
    "lakehouse.root": lambda rng: rng.choice(("lake", "/tmp/a b", "é#1", "a%20b")),
    "models.batch_size": lambda rng: rng.randint(1, 999),
    "pipeline.slice_minutes": lambda rng: rng.randint(1, 99) / 2,
    "subtitles.languages": lambda rng: rng.sample(["en", "de", "pt_br", "fr"], rng.randint(1, 3)),
    "mlflow.experiment": lambda rng: rng.choice(("x", "a: b", "# no", "'", '"', "null", "1", "yes")),
    "llm.batch_size": lambda rng: rng.randint(1, 99),
    "spark.conf": lambda rng: {"spark.sql.shuffle.partitions": str(rng.randint(1, 9))},
}
_WEDGES = (
    b"&a",
    b"*a",
    b"<<: *a\n",
    b"!!python/object:os.system",
    b"\t",
    b"\0",
    b"\xff",
    b"{",
    b"[",
    b"- ",
    b": ",
    b"? ",
    b"|",
    b"'",
    b'"',
    b"%YAML 9\n",
    b"---\n",
    b"\xef\xbb\xbf",
    b"@",
    b"2020-99-99",
    b"1e999",
    b"\x85",
)


def settings_files(rng: random.Random, number: int) -> End:
    """A file of settings: unchanged, each value arrives; damaged, it is read or named; with a key twice, named."""
    import yaml

    given = {key: _VALUES[key](rng) for key in rng.sample(sorted(_VALUES), rng.randint(1, len(_VALUES)))}
    nested: dict[str, dict[str, Any]] = {}
    for key, value in given.items():
        section, _, name = key.partition(".")
        nested.setdefault(section, {})[name] = value
    data = yaml.safe_dump(nested, allow_unicode=True, default_flow_style=rng.choice((None, False, True))).encode()
    kind = rng.randrange(4)
    if kind == 1:
        section = rng.choice(sorted(nested))
        data = yaml.safe_dump(nested, default_flow_style=False).encode() + f"{section}: {{}}\n".encode()
    elif kind == 2:
        data = damaged(rng, data)
    elif kind == 3:
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice(_WEDGES) + data[at:]
    with folder() as root:
        path = root / "mine.yaml"
        path.write_bytes(data)
        try:
            settings = load_settings("local", [path])
        except InputError as error:
            if kind == 0:
                return End(lost=1)
            named = str(path) in str(error) or "setting " in str(error)
            return one_line(error) if named else one_line(error, str(path))
    if kind == 1:
        return End(lost=1)  # one of the two sections
    if kind == 0:
        return End(lost=sum(_value(settings, key) != value for key, value in given.items()))
    return End()


def _value(settings: Any, key: str) -> Any:
    for name in key.split("."):
        settings = getattr(settings, name)
    return list(settings) if isinstance(settings, tuple) else settings


# Archives

_END = b"PK\x05\x06" + b"\0" * 18


def odd_archives(rng: random.Random, number: int) -> End:
    """A zip joined to another, with an end record as its comment, or whose members share bytes, beside a good one."""
    with folder() as root:
        good = [Entry(b"xml/en/1999/1/%d.xml" % place, document(rng, odd=0)) for place in range(rng.randint(1, 4))]
        (root / "good.zip").write_bytes(zip_of(good))
        first = [Entry(b"xml/en/2000/2/%d.xml" % place, document(rng, odd=0)) for place in range(rng.randint(1, 4))]
        packed = zip_of(first)
        kind = rng.randrange(5)
        intact = len(good)
        if kind == 0:
            comment = rng.choice(
                (_END, b"a PK\x05\x06 b", _END * rng.randint(2, 900), b"PK\x05\x06" + b"z" * 30, packed)
            )
            data = packed[:-2] + len(comment[:65535]).to_bytes(2, "little") + comment[:65535]
            intact += len(first)
        elif kind == 1:
            more = [Entry(b"xml/en/2001/3/%d.xml" % place, document(rng, odd=0)) for place in range(rng.randint(1, 3))]
            data = packed + zip_of(more)
            intact += len(first) + len(more)
        elif kind == 2:
            data = rng.randbytes(rng.randint(1, 300)).replace(b"PK", b"xx") + packed
            intact += len(first)
        elif kind == 3:
            same = [
                Entry(b"xml/en/2000/2/%d.xml" % (9 + place), b"", claimed_offset=0)
                for place in range(rng.randint(1, 9))
            ]
            data = zip_of([*first, *same])
        else:
            data = damaged(rng, packed + rng.choice((_END, packed, b"")))
        (root / "odd.zip").write_bytes(data)
        reading = reading_of(root)
        named = any(path.startswith("odd.zip") for path in reading.refused)
        vanished = not any(row["source_path"].startswith("odd.zip") for row in reading.listed)
        lost = reading.lost + max(intact - len(reading.kept), 0) + (vanished and kind != 4)
        return End(lost, reading.doubled, named)


# Paths

_LETTERS = "ab Z9é日\u0301#?%&{}[]()*~!'\"\\^|<>:;,=+@$.-_`\u2028\u00a0"
_PIECES = (
    "%20",
    "%2F",
    "%",
    "..",
    "...",
    "a b",
    "file:",
    "s3:",
    "{x}",
    "[x]",
    "~",
    "~user",
    "-",
    "con",
    " ",
    "x=1",
    "=",
)


def paths(rng: random.Random, number: int) -> End:
    """A folder of any name: path and URI lead back to it, a file and a table written there are found there alone."""
    from deltalake import DeltaTable, write_deltalake

    from etl.pipeline import local_delta
    from udfs.opus.files import filesystem

    with folder() as root:
        names = ["".join(rng.choice((*_PIECES, *_LETTERS)) for _ in range(rng.randint(1, 6))) for _ in range(2)]
        names = [name if name.strip(".") else f"{name}x" for name in names]
        place = root.joinpath(*names)
        place.mkdir(parents=True)
        path = str(place)
        wrong = local_path(file_uri(path)) != path
        wrong += local_path(f"file:{path}") != path
        wrong += local_path(path) != path or is_uri(path)
        (place / "x.txt").write_bytes(b"here")
        for written in (path, file_uri(path)):
            store, inside = filesystem(f"{written}/x.txt")
            with store.open_input_stream(inside) as stream:
                wrong += stream.read() != b"here"
        named = False
        try:
            sqlite_uri(path)
        except InputError as error:
            named = one_line(error, path).named
        if number % 8 == 0 and local_delta.keeps(path):
            import pyarrow as pa

            write_deltalake(path, pa.table({"x": [1, 2]}))
            wrong += DeltaTable(path).to_pyarrow_table().num_rows != 2
            wrong += not (place / "_delta_log").is_dir()
        return End(lost=int(wrong), named=named)


# Weights


def weights(rng: random.Random, number: int) -> End:
    """A tiny encoder's folder: whole, it passes; with a weight, a file or bytes missing, it is named; no other end."""
    from etl.pipeline.model_weights import check_weights

    with folder() as root:
        tensors = _encoder(root)
        file = root / "model.safetensors"
        kind = rng.randrange(7)
        certain = True
        if kind == 1:
            data = file.read_bytes()
            file.write_bytes(data[: rng.randrange(len(data))])
        elif kind == 2:
            _save(file, {name: shape for name, shape in tensors.items() if name != rng.choice(sorted(tensors))})
            certain = len(_saved(file)) < len(tensors)
        elif kind == 3:
            name = rng.choice(sorted(name for name, shape in tensors.items() if len(shape) == 2))
            _save(file, {**tensors, name: (3, 7)})
        elif kind == 4:
            data = (root / "config.json").read_bytes()
            (root / "config.json").write_bytes(data[: rng.randrange(len(data))])
        elif kind == 5:
            file.write_bytes(damaged(rng, file.read_bytes()))
            certain = False
        elif kind == 6:
            (root / "config.json").write_bytes(damaged(rng, (root / "config.json").read_bytes()))
            certain = False
        try:
            check_weights(root)
        except InputError as error:
            return End(lost=1) if kind == 0 else one_line(error, str(root))
        return End(lost=int(certain and kind != 0))


def _encoder(root: Path) -> dict[str, tuple[int, ...]]:
    """Write a BERT of one layer; return its weights' shapes."""
    config = {"model_type": "bert", "hidden_size": 4, "intermediate_size": 6, "num_hidden_layers": 1, "vocab_size": 9}
    config |= {"max_position_embeddings": 5}
    (root / "config.json").write_text(json.dumps(config))
    (root / "tokenizer.json").write_text("{}")
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (9, 4),
        "embeddings.position_embeddings.weight": (5, 4),
        "embeddings.LayerNorm.weight": (4,),
        "embeddings.LayerNorm.bias": (4,),
    }
    inner = {"attention.self.query": 4, "attention.self.key": 4, "attention.self.value": 4, "attention.output.dense": 4}
    for name in inner:
        shapes |= {f"encoder.layer.0.{name}.weight": (4, 4), f"encoder.layer.0.{name}.bias": (4,)}
    for name in ("attention.output.LayerNorm", "output.LayerNorm"):
        shapes |= {f"encoder.layer.0.{name}.weight": (4,), f"encoder.layer.0.{name}.bias": (4,)}
    shapes |= {"encoder.layer.0.intermediate.dense.weight": (6, 4), "encoder.layer.0.intermediate.dense.bias": (6,)}
    shapes |= {"encoder.layer.0.output.dense.weight": (4, 6), "encoder.layer.0.output.dense.bias": (4,)}
    _save(root / "model.safetensors", shapes)
    return shapes


def _save(file: Path, shapes: dict[str, tuple[int, ...]]) -> None:
    import numpy as np
    from safetensors.numpy import save_file

    save_file({name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()}, file)


def _saved(file: Path) -> list[str]:
    from safetensors import safe_open

    with safe_open(file, "np") as content:
        return list(content.keys())


# Tables

_TABLE: list[Path] = []


def tables(rng: random.Random, number: int) -> End:
    """A Delta table with a damage to its log or files: it is named, or all rows are read."""
    from deltalake import DeltaTable

    from etl.pipeline.table_checks import table_faults

    with folder() as root:
        table = root / "edos" / "seeds"
        shutil.copytree(_table(), table)
        files = sorted(path for path in table.rglob("*") if path.is_file())
        file = rng.choice(files)
        kind = rng.randrange(4)
        if kind == 1:
            data = file.read_bytes()
            file.write_bytes(data[: rng.randrange(len(data))])
        elif kind == 2 and not file.name.startswith(f"{5:020}"):  # without its last commit a table is an older one
            file.unlink()
        elif kind == 3 and file.suffix == ".json":
            file.write_bytes(damaged(rng, file.read_bytes()))
        settings = load_settings("local", [], {"lakehouse.root": str(root)})
        faults = list(table_faults(settings))
        if faults:
            assert "\n" not in str(faults[0])
            assert "edos.seeds" in str(faults[0])
            return End(lost=int(kind == 0), named=True)
        rows = sorted(DeltaTable(str(table)).to_pyarrow_table()["x"].to_pylist())
        return End(lost=len(set(range(12)) - set(rows)), doubled=len(rows) - len(set(rows)))


def _table() -> Path:
    """Return a table of six commits with a checkpoint, made once a process."""
    if not _TABLE:
        import pyarrow as pa
        from deltalake import DeltaTable, write_deltalake

        place = Path(tempfile.mkdtemp(prefix="attack-table-"))
        for commit in range(6):
            write_deltalake(place, pa.table({"x": [2 * commit, 2 * commit + 1]}), mode="append")
            if commit == 2:
                DeltaTable(place).create_checkpoint()
        _TABLE.append(place)
    return _TABLE[0]


# Servers

_KEY = "a-key-of-no-known-form-4711"
_REPLY: list[bytes] = []
_URL: list[str] = []
_STATUSES = "200 OK|204 No|302 Found|400 Bad|401 No|413 Large|422 Bad|429 Later|500 Fault|599 ?|200|abc|1000 x"


def servers(rng: random.Random, number: int) -> End:
    """A server's answer: unchanged, its text arrives; damaged, a row has a text or a reason, or the server is named."""
    from conf.llm_settings import DecodingSettings, ServerSettings
    from tests.llm_servers import asking
    from udfs.llm_requests import Request, UnavailableError

    said = rng.choice(("yes", "é\u2028x", "1. Joy\n2. Fear", "{}", "a" * 3000))
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
    content: Any = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    kind = rng.randrange(5)
    status = b"200 OK"
    body = json.dumps(content).encode()
    if kind == 1:
        body = damaged(rng, body)
    elif kind == 2:
        target = rng.choice((content, choice, choice["message"]))
        target[rng.choice(sorted(target))] = rng.choice(
            (None, [], {}, 7, "", "\ud800", f"x {_KEY}", [None], True, 1e308)
        )
        body = json.dumps(content).encode()
    elif kind == 3:
        body = json.dumps({"error": {"message": f"no {_KEY}", "code": rng.choice((400, "x", None))}}).encode()
        status = rng.choice(_STATUSES.split("|")).encode()
    elif kind == 4:
        status = rng.choice(_STATUSES.split("|")).encode()
    head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
    whole = head % (status, len(body)) + body
    _REPLY[:] = [whole if kind or rng.random() < 0.7 else whole[: rng.randrange(len(whole))]]
    intact = kind == 0 and len(_REPLY[0]) == len(whole)
    settings = ServerSettings(url=_server(), retries=0, timeout_seconds=2, concurrency=1)
    try:
        answer = asking("m", settings, _KEY).answers([Request("p")], DecodingSettings(max_new_tokens=9))[0]
    except UnavailableError as error:
        assert "\n" not in str(error)
        assert _KEY not in str(error)
        assert "127.0.0.1" in str(error)
        return End(lost=int(intact), named=True)
    assert _KEY not in str(answer)
    assert answer.finish_reason is None or answer.finish_reason.isprintable()
    if answer.text is None:
        assert answer.error, "a row without text or reason"
        assert answer.error.isprintable()
        return End(lost=int(intact), named=True)
    answer.text.encode()
    return End(lost=int(intact and answer.text.strip() != said.strip()))


def _server() -> str:
    """Return the address of this process' server, which answers each request with the bytes in `_REPLY`."""
    if not _URL:
        listening = socket.create_server(("127.0.0.1", 0))

        def serve() -> None:
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=one, args=(connection,), daemon=True).start()

        def one(connection: socket.socket) -> None:
            with suppress(OSError), connection:
                connection.settimeout(2)
                data = b""
                while b"\r\n\r\n" not in data:
                    data += connection.recv(65536)
                connection.sendall(_REPLY[0])
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass

        threading.Thread(target=serve, daemon=True).start()
        _URL.append(f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
    return _URL[0]


@contextmanager
def folder() -> Iterator[Path]:
    """Yield a temporary folder, which is removed with names of any bytes."""
    path = tempfile.mkdtemp(prefix="attack-")
    try:
        yield Path(path)
    finally:
        shutil.rmtree(os.fsencode(path), ignore_errors=True)


ATTACKS: dict[str, Callable[[random.Random, int], End]] = {
    "crowd files": crowd_files,
    "settings files": settings_files,
    "archives joined and overlapping": odd_archives,
    "paths": paths,
    "weights": weights,
    "damaged tables": tables,
    "answers of servers": servers,
}
SHARES = {
    "crowd files": 0.50,
    "settings files": 0.06,
    "archives joined and overlapping": 0.06,
    "paths": 0.20,
    "weights": 0.10,
    "damaged tables": 0.05,
    "answers of servers": 0.03,
}
"""The share of each attack in the inputs of this kind."""
