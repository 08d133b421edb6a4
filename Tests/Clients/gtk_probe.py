"""Runs a GTK program, and prints the texts of its windows as lines while it runs: gtk_probe.py PROGRAM ARGUMENT…"""
import json, runpy, sys

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk


def texts(widget):
    if isinstance(widget, Gtk.Label):
        yield widget.get_label()
    child = widget.get_first_child()
    while child is not None:
        yield from texts(child)
        child = child.get_next_sibling()


def report():
    print(json.dumps([text for window in Gtk.Window.list_toplevels() for text in texts(window)]), flush=True)
    return True


GLib.timeout_add(50, report)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
