import inspect

import pytest
import spacy
from confection import Config
from pipeline import sentences
from spacy.language import Language
from spacy.util import registry

from spacy_klsh import RelationExtractor, SubsequenceKernel
from spacy_klsh.kernels.kernel import learns as learns_labels
from spacy_klsh.pipeline import classifier_makers, factory, kernel_makers
from spacy_klsh.pipeline.scoring import score_relations

MAKERS = [
    ("misc", "spacy-klsh.entity_pairs.v1", factory.make_entity_pairs),
    ("misc", "spacy-klsh.views.v1", factory.make_views),
    ("misc", "spacy-klsh.subsequence_kernel.v1", kernel_makers.make_subsequence_kernel),
    ("misc", "spacy-klsh.klsh.v1", factory.make_klsh),
    ("misc", "spacy-klsh.subspace.v1", classifier_makers.make_subspace),
    ("scorers", "spacy-klsh.relation_scorer.v1", factory.make_relation_scorer),
    ("readers", "spacy-klsh.RelationCorpus.v1", factory.make_relation_corpus),
    ("misc", "spacy-klsh.role_candidates.v1", factory.make_role_candidates),
    ("misc", "spacy-klsh.hamming_knn.v1", classifier_makers.make_hamming_knn),
    ("misc", "spacy-klsh.klsh_knn.v1", classifier_makers.make_klsh_knn),
    ("misc", "spacy-klsh.logistic.v1", classifier_makers.make_logistic),
    ("misc", "spacy-klsh.extra_trees.v1", classifier_makers.make_extra_trees),
    ("misc", "spacy-klsh.polynomial.v1", classifier_makers.make_polynomial),
    ("misc", "spacy-klsh.perceptron.v1", classifier_makers.make_perceptron),
    ("misc", "spacy-klsh.linear.v1", classifier_makers.make_linear),
    ("misc", "spacy-klsh.ensemble.v1", classifier_makers.make_ensemble),
    ("misc", "spacy-klsh.features.v1", factory.make_features),
    ("misc", "spacy-klsh.combined_kernel.v1", kernel_makers.make_combined_kernel),
    ("misc", "spacy-klsh.common_paths_kernel.v1", kernel_makers.make_common_paths_kernel),
    ("misc", "spacy-klsh.graph_kernel.v1", kernel_makers.make_graph_kernel),
    ("misc", "spacy-klsh.shortest_path_kernel.v1", kernel_makers.make_shortest_path_kernel),
]


@pytest.mark.parametrize(("kind", "name", "maker"), MAKERS)
def test_makers_are_registered_under_their_names(kind, name, maker):
    assert getattr(registry, kind).get(name) is maker


def test_the_component_is_a_factory_of_every_language():
    meta = Language.get_factory_meta("klsh_relations")
    assert meta.assigns == ["doc._.relations"]
    assert set(meta.requires) == {"token.dep", "token.head"}
    assert meta.default_score_weights["rel_micro_f"] == 1


def defaults(function):
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def test_the_defaults_of_the_factory_are_those_of_the_component():
    found = {k: v for k, v in factory.DEFAULT_CONFIG.items() if not isinstance(v, dict)}
    expected = {k: v for k, v in defaults(RelationExtractor).items() if k not in ("name", "scorer")}
    expected = {k: list(v) if isinstance(v, tuple) else v for k, v in expected.items()}
    assert found == expected


@pytest.mark.parametrize(
    ("maker", "settings"),
    [
        (
            factory.make_entity_pairs,
            {
                "spans_key": "sc",
                "entity_pairs": [["A", "B"]],
                "max_tokens": 3,
                "max_sentences": 2,
                "max_candidates": 9,
                "overlapping": "keep",
                "same_text": "drop",
            },
        ),
        (
            factory.make_role_candidates,
            {
                "roles": {"a": ["A"], "b": ["B"], "c": ["B"]},
                "optional": ["c"],
                "interchangeable": [["b", "c"]],
                "spans_key": "sc",
                "max_tokens": 3,
                "max_sentences": 2,
                "max_candidates": 9,
                "overlapping": "drop",
                "same_text": "keep",
            },
        ),
        (
            factory.make_views,
            {
                "names": ["path"],
                "attributes": ["pos", "tag"],
                "blind": False,
                "window": 3,
                "depth": 2,
            },
        ),
        (factory.make_features, {"width": 9, "max_lengths": {"path": 2}}),
        (
            kernel_makers.make_subsequence_kernel,
            {
                "decay": 0.5,
                "max_length": 2,
                "length_weights": [1.0, 2.0],
                "threshold": 0.1,
                "attribute_weights": [1.0],
                "sigma": {"conj": 0.5},
                "interleaved": False,
                "view": "other",
                "tokens": "gaussian",
                "bandwidth": 0.5,
                "edges": "any",
            },
        ),
        (
            kernel_makers.make_graph_kernel,
            {
                "decay": 0.25,
                "contiguous": True,
                "threshold": 0.1,
                "attribute_weights": [1.0],
                "sigma": {"conj": 0.5},
                "view": "sentence",
                "tokens": "gaussian",
                "bandwidth": 0.5,
                "edges": "any",
            },
        ),
        (
            kernel_makers.make_shortest_path_kernel,
            {
                "threshold": 0.1,
                "attribute_weights": [1.0],
                "sigma": {"conj": 0.5},
                "view": "between",
                "tokens": "gaussian",
                "bandwidth": 0.5,
                "edges": "any",
            },
        ),
        (
            kernel_makers.make_combined_kernel,
            {
                "kernels": {"path": SubsequenceKernel()},
                "weights": {"path": 0.5},
                "operation": "product",
            },
        ),
        (
            lambda **s: factory.make_klsh(**s)(SubsequenceKernel(), seed=0),
            {"family": "rmm", "n_references": 9, "n_bits": 8, "subset_size": 3},
        ),
        (
            lambda **s: classifier_makers.make_subspace(**s)(seed=0),
            {
                "n_members": 3,
                "bits_per_member": None,
                "min_samples_leaf": 2,
                "class_weight": "balanced",
                "inputs": "both",
                "n_features_kept": 7,
            },
        ),
        (lambda **s: classifier_makers.make_subspace(**s)(seed=0), {"base": "a classifier"}),
        (
            lambda **s: classifier_makers.make_extra_trees(**s)(seed=0),
            {
                "n_trees": 3,
                "bits_per_split": 4,
                "min_samples_leaf": 2,
                "class_weight": "balanced",
                "inputs": "codes",
                "n_features_kept": 7,
            },
        ),
        (
            lambda C, **s: classifier_makers.make_logistic(strength=C, **s),
            {"C": 0.5, "class_weight": "balanced"},
        ),
        (
            lambda **s: classifier_makers.make_hamming_knn(**s)(seed=0),
            {"k": 3, "weights": "distance", "index": "faiss", "smoothing": 0.5},
        ),
        (
            lambda **s: classifier_makers.make_klsh_knn(**s)(seed=0),
            {
                "k": 3,
                "n_tables": 2,
                "bits_per_table": 5,
                "neighborhood": 9,
                "weights": "uniform",
                "smoothing": 0.5,
            },
        ),
        (
            lambda **s: classifier_makers.make_polynomial(**s)(seed=0),
            {
                "degree": 3,
                "C": 0.5,
                "class_weight": "balanced",
                "inputs": "both",
                "method": "expansion",
                "sigma": 0.25,
                "max_sets": 9,
                "n_folds": 5,
                "max_training_candidates": 7,
            },
        ),
        (
            lambda **s: classifier_makers.make_linear(**s)(seed=0),
            {"C": 0.5, "min_count": 3, "class_weight": "balanced", "inputs": "codes"},
        ),
        (
            lambda members, weights: classifier_makers.make_ensemble(
                {name: lambda seed, name=name: name for name in members}, weights
            )(seed=0),
            {"members": {"a": "a", "b": "b"}, "weights": {"a": 2.0}},
        ),
        (
            lambda **s: classifier_makers.make_perceptron(**s)(seed=0),
            {
                "strategy": "given",
                "hierarchy": {"A": "B"},
                "max_passes": 7,
                "n_averaged": 3,
                "n_replicates": 2,
                "inputs": "codes",
            },
        ),
        (
            factory.make_relation_corpus,
            {
                "path": "a.spacy",
                "gold_entities": False,
                "spans_key": "sc",
                "limit": 3,
                "attr": "links",
            },
        ),
    ],
    ids=[
        *("candidates", "role candidates", "views", "features"),
        *("kernel", "graph kernel", "shortest path kernel", "combined kernel"),
        *("hashing", "classifier", "base", "extra trees", "logistic", "hamming_knn"),
        *("klsh_knn", "polynomial", "linear", "ensemble", "perceptron", "reader"),
    ],
)
def test_makers_pass_every_setting_on(maker, settings):
    made = maker(**settings)
    found = {name: getattr(made, name) for name in settings}
    assert {k: list(v) if isinstance(v, tuple) else v for k, v in found.items()} == settings


def test_the_scorer_is_the_relation_scorer():
    assert factory.make_relation_scorer() is score_relations


@pytest.mark.parametrize("learns", [False, True])
def test_the_path_kernel_learns_weights_if_it_is_told_to(learns):
    kernel = kernel_makers.make_subsequence_kernel(learn_weights=learns, decay=0.5)
    assert learns_labels(kernel) is learns
    assert (isinstance(kernel, SubsequenceKernel), kernel.decay) == (True, 0.5)


def test_the_config_names_every_default_and_builds_the_same_again():
    nlp = spacy.blank("en")
    nlp.add_pipe("klsh_relations")
    block = nlp.config["components"]["klsh_relations"]
    makers = {name: maker for _, name, maker in MAKERS}
    for name in ("candidates", "views", "features", "kernel", "hashing", "classifier"):
        settings = dict(block[name])
        assert settings == {**defaults(makers[settings.pop("@misc")]), **settings} and settings
    again = type(nlp).from_config(nlp.config)
    assert again.config == nlp.config
    component, other = nlp.get_pipe("klsh_relations"), again.get_pipe("klsh_relations")
    assert component.to_bytes() == other.to_bytes()


def plain(value):
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    "make",
    [
        factory.make_entity_pairs,
        factory.make_views,
        factory.make_features,
        kernel_makers.make_subsequence_kernel,
        kernel_makers.make_graph_kernel,
        kernel_makers.make_shortest_path_kernel,
        lambda: factory.make_klsh()(SubsequenceKernel(), seed=0),
        lambda: classifier_makers.make_subspace()(seed=0),
        lambda: classifier_makers.make_extra_trees()(seed=0),
        lambda: classifier_makers.make_hamming_knn()(seed=0),
        lambda: classifier_makers.make_klsh_knn()(seed=0),
        lambda: classifier_makers.make_polynomial()(seed=0),
        lambda: classifier_makers.make_perceptron()(seed=0),
        lambda: classifier_makers.make_linear()(seed=0),
    ],
)
def test_the_defaults_of_a_maker_are_those_of_what_it_makes(make):
    made = make()
    kernel = {"kernel": made.kernel} if hasattr(made, "kernel") else {}
    other = type(made)(**kernel)
    for name in inspect.signature(type(made)).parameters:
        if not name.startswith("_"):
            assert plain(getattr(made, name)) == plain(getattr(other, name)), name


def test_settings_survive_config_text():
    nlp = sentences.build(threshold=0.25, direction="none", attr="links", seed=3)
    again = type(nlp).from_config(Config().from_str(nlp.config.to_str()))
    component = again.get_pipe("klsh_relations")
    assert (component.threshold, component.scheme.direction) == (0.25, "none")
    assert (component.attr, component.seed) == ("links", 3)
    assert (component.hashing.n_bits, component.hashing.seed) == (128, 3)
    assert component.classifier.n_members == sentences.SMALL["classifier"]["n_members"]


def test_an_unknown_setting_is_refused():
    with pytest.raises(ValueError, match="n_bit"):
        sentences.build(hashing={"@misc": "spacy-klsh.klsh.v1", "n_bit": 5})


@pytest.mark.parametrize(
    "settings", [{"family": "md5"}, {"n_bits": 0}, {"n_references": 3, "subset_size": 2}]
)
def test_bad_block_settings_are_refused_when_the_pipe_is_added(settings):
    with pytest.raises(ValueError, match=r"choose one of|use at least"):
        sentences.build(hashing={"@misc": "spacy-klsh.klsh.v1", **settings})
