"""What the module of a kind must have."""
import types, unittest

import samples
import vendors


class ModuleTests(unittest.TestCase):
    def check(self, **members):
        module = types.ModuleType("acme")
        vars(module).update({"Vendor": object, "ROUTES": ["login", "logout"], "IN": {"login"}, "OUT": {"logout"}} | members)
        return vendors.checked(module)

    def test_a_module_says_what_signs_users_in_and_out(self):
        self.assertEqual(self.check().IN, {"login"})
        self.assertEqual(self.check(IN=set(), OUT=set()).OUT, set())
        with self.assertRaisesRegex(ValueError, "no route is called end"):
            self.check(OUT={"end"})

    def test_what_is_missing_is_named(self):
        for name in vendors.NEEDED:
            module = self.check()
            delattr(module, name)
            with self.subTest(name), self.assertRaisesRegex(ValueError, f"acme.py has no {name}"):
                vendors.checked(module)
