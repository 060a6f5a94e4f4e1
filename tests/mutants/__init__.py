"""Small edits of the protocol, one for each of its sentences, and the tests that must see them."""
