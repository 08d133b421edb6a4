"""What the generator of the contract says to mistakes in its files."""
import copy, importlib.util, os, sys, unittest

import samples
import facts

FOLDER = os.path.join(samples.SEQUENCES, "..", "..", "..", "Packaging", "contract")


def generator():
    """The generator's module of the kinds. The model has one of the same name."""
    sys.path.append(FOLDER)
    spec = importlib.util.spec_from_file_location("contract_kinds", os.path.join(FOLDER, "kinds.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class MemberTests(unittest.TestCase):
    def setUp(self):
        generator()
        self.shapes, self.methods = map(importlib.import_module, ("shapes", "methods"))

    def test_a_description_is_a_comment_of_the_clients(self):
        def described(text):
            return self.shapes.described({"age": {"type": "string", "text": text}}, {})

        for text in ("the age", "whether it is new", "It is new."):
            self.assertEqual(described(text)[0].text, text)
        with self.assertRaisesRegex(ValueError, "age needs a description that begins with the, a or whether: maximum age"):
            described("maximum age")

    def test_a_plain_reader_leaves_invalid_texts_to_decoding(self):
        def reader(type):
            members = {"instance": {"type": "InstanceID", "text": "the instance"}, "since": {"type": type, "text": "the start"}}
            return "".join(self.methods.plain({"plain": list(members)}, self.shapes.members(members, {})))

        self.assertIn("let value = Timestamp(text) else { return nil }", reader("Timestamp?"))
        for type in ("integer?", "[string]?", "secret?"):
            with self.subTest(type), self.assertRaisesRegex(ValueError, "plain reads String, .*, and since is"):
                reader(type)


class KindFileTests(unittest.TestCase):
    def setUp(self):
        self.generator = generator()
        login = {"commands": [{"verb": "login"}]}
        self.kinds = [
            copy.deepcopy(kind) | {"folder": f"Kind{letter}", "methods": {"a.b": login | {"kind": f"kind{letter}"}}}
            for letter, kind in facts.ALL.items()]

    def mistakes(self):
        try:
            self.generator.check(self.kinds)
        except ValueError as error:
            return str(error)
        return ""

    def test_the_files_of_the_kinds_have_all_keys(self):
        self.assertEqual(self.mistakes(), "")

    def test_each_missing_key_is_named(self):
        for table, keys in self.generator.REQUIRED.items():
            for key in keys.split():
                self.setUp()
                data = self.kinds[3][table] if table else self.kinds[3]
                del data[key]
                with self.subTest(f"{table}.{key}"):
                    self.assertIn(f"{table}.{key}" if table else key, self.mistakes())

    def test_a_mistake_is_named(self):
        def rows(letter):
            return {f"{letter}1": "what it is about"}

        for name, change, said in [
                ("an unknown key", {"colour": "red"}, "colour"), ("a word that is no identifier", {"word": "in-app"}, "word"),
                ("a keyword", {"word": "case"}, "word"), ("a word of another kind", {"word": "edna"}, "word is edna"),
                ("a place of another kind", {"place": 1}, "place is 1"), ("no rows", {"rows": {}}, "one capital letter"),
                ("a letter of another kind", {"rows": rows("E")}, "letter of the rows is E"),
                ("the letter of common rows", {"rows": rows("R")}, "none of RX"),
                ("two letters", {"rows": rows("C") | rows("D")}, "one capital letter"),
                ("another constant", {"methods": {"a.b": {"kind": "chat", "commands": [{"verb": "login"}]}}}, "must be kindc"),
                ("vendor's tokens of nobody", {"model": {"sign_in": "{}", "tokens": ["x"]}}, "model.issued is missing"),
                ("an incomplete place of tokens", {"model": {"sign_in": "{}", "issued": {"list": "x"}}}, "list token user"),
                ("no login", {"methods": {}}, "and 0 have"),
                ("two logins", {"methods": {name: {"kind": "kindc", "commands": [{"verb": "login"}]} for name in ("a.b", "a.c")}},
                 "2 have: a.b, a.c")]:
            self.setUp()
            self.kinds[3].update(change)
            with self.subTest(name):
                self.assertIn(said, self.mistakes())
