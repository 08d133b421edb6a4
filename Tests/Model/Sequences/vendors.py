"""The vendors' sides of all kinds. The module of a kind is called by its word, and has what the sequences do with it.

`Vendor` is its backend, and `ROUTES` are the routes that may fail. `IN` and `OUT` are those by which the vendor regards a user as
signed in and out, for rule 4; empty sets if it only knows tokens. The others may be missing: `LEAVING` are the routes by which a
user leaves, `SETTINGS` what some instances are created with beside what all need, and `STEPS` the steps that only this kind has.
`KEEPS_ANONYMOUS` says that a sign-in wipes nothing of an anonymous user before it, for rule 3: the vendor merges the two
(`signOutAfter`), or the anonymous user is `User.none`. Without it, rule 3 misses `identityWiped` between them.
"""
import importlib

import facts

NEEDED = ("Vendor", "ROUTES", "IN", "OUT")


def checked(module):
    """The module of a kind, if it has what the rules need."""
    if lacking := [name for name in NEEDED if not hasattr(module, name)]:
        raise ValueError(f"Tests/Model/Sequences/{module.__name__}.py has no {', '.join(lacking)}: see vendors.py")
    if unknown := (set(module.IN) | set(module.OUT)) - set(module.ROUTES):
        raise ValueError(f"Tests/Model/Sequences/{module.__name__}.py: no route is called {', '.join(sorted(unknown))}")
    return module


ALL = {letter: checked(importlib.import_module(kind["word"])) for letter, kind in facts.ALL.items()}
BACKENDS = {letter: module.Vendor for letter, module in ALL.items()}
ROUTES = {letter: module.ROUTES for letter, module in ALL.items()}
IN = {letter: module.IN for letter, module in ALL.items()}
OUT = {letter: module.OUT for letter, module in ALL.items()}
LEAVING = {letter: getattr(module, "LEAVING", module.ROUTES) for letter, module in ALL.items()}
SETTINGS = {letter: module.SETTINGS for letter, module in ALL.items() if hasattr(module, "SETTINGS")}
KEEPS_ANONYMOUS = {letter for letter, module in ALL.items() if getattr(module, "KEEPS_ANONYMOUS", False)}
STEPS = {letter: getattr(module, "STEPS", []) for letter, module in ALL.items()}
