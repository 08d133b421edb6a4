"""The vendors' sides of all kinds. The module of a kind is called by its word, and has what the sequences do with it.

`Vendor` is its backend, and `ROUTES` are the routes that may fail. The others may be missing: `LEAVING` are the routes by which a
user leaves, `SETTINGS` what an instance is created with beside what it needs, and `STEPS` the steps that only this kind has.
"""
import importlib

import facts

ALL = {letter: importlib.import_module(kind["word"]) for letter, kind in facts.ALL.items()}
BACKENDS = {letter: module.Vendor for letter, module in ALL.items()}
ROUTES = {letter: module.ROUTES for letter, module in ALL.items()}
LEAVING = {letter: getattr(module, "LEAVING", module.ROUTES) for letter, module in ALL.items()}
SETTINGS = {letter: module.SETTINGS for letter, module in ALL.items() if hasattr(module, "SETTINGS")}
STEPS = {letter: getattr(module, "STEPS", []) for letter, module in ALL.items()}
