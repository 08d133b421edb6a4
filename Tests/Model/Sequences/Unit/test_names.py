"""Users by the tokens in the state of the vendors, as the files of the kinds say."""
import unittest

import samples
import facts, kinds


def lists(model):
    return {model[key]["list"]: [] for key in ("users", "issued") if key in model}


class Sandbox:
    """A sandbox with this state, and empty lists for the other kinds."""

    def __init__(self, state):
        self.state = {kind["sandbox"]["prefix"]: lists(kind["model"]) for kind in facts.ALL.values()} | state

    def ask(self, method, path):
        return self.state


STATE = {
    "zs": {"users": [{"id": 360, "name": "alice"}], "accessTokens": [{"accessToken": "zs_1", "userId": 360}]},
    "sf": {"accessTokens": [{"accessToken": "00D!AQ1", "user": "bob"}]},
    "zc": {"idTokens": [{"idToken": "zct_1", "externalId": "carol"}, {"idToken": "zct_2"}]}}


class NameTests(unittest.TestCase):
    def setUp(self):
        self.names = kinds.Names(Sandbox(STATE))

    def test_an_opaque_token_has_the_user_of_the_vendors_state(self):
        found = [self.names.of_token(letter, token) for letter, token in [
            ("s", "zs_1"), ("f", "00D!AQ1"), ("c", "zct_1"), ("c", "zct_2"), ("c", "zct_3")]]
        self.assertEqual(found, ["alice", "bob", "carol", None, None])

    def test_a_user_is_known_by_the_vendors_id_where_the_file_says_so(self):
        self.assertEqual(self.names.of_user("s", {"id": "360", "externalId": "a digest"}), "alice")
        self.assertEqual(self.names.of_user("m", {"id": "360", "externalId": "alice"}), "alice")

    def test_a_kind_whose_tokens_never_name_a_user_is_noticed(self):
        for _ in range(kinds.FEW):
            self.names.of_token("m", "of the vendor, and no JWT")
            self.names.of_token("c", "zct_2")
        self.names.of_token("c", "zct_1")
        self.assertEqual(self.names.silent(), ["zendesk.messaging"])
