"""From encoded candidates to probabilities of labels."""
