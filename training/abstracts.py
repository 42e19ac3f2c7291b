"""Texts of a brat archive (.tar.gz with .txt members) as one file, a blank line between them."""

import tarfile
from pathlib import Path
from typing import Annotated

import typer


def main(archive: Path, output: Path, limit: Annotated[int, typer.Option(min=1)] = 200) -> None:
    """Write the first `limit` texts of `archive`, each as one paragraph, to `output`."""
    texts: list[str] = []
    with tarfile.open(archive) as members:
        for member in members:
            if member.name.endswith(".txt") and len(texts) < limit:
                content = members.extractfile(member)
                if content is not None:
                    texts.append(" ".join(content.read().decode("utf-8").split()))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    typer.echo(f"{len(texts)} texts, {sum(map(len, texts)):,} characters -> {output}")


if __name__ == "__main__":
    typer.run(main)
