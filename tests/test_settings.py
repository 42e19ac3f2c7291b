from settings import overridden


def test_settings_keep_their_capitals_and_the_block_stays_as_it_is():
    block = {"seed": 1, "classifier": {"@misc": "spacy-klsh.linear.v1", "C": 10.0}}
    found = overridden(block, {"classifier.C": 1.0, "kernel.decay": 0.5})
    classifier = {"@misc": "spacy-klsh.linear.v1", "C": 1.0}
    assert found == {"seed": 1, "classifier": classifier, "kernel": {"decay": 0.5}}
    assert block["classifier"]["C"] == 10.0
