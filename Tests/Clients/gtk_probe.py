"""Runs a GTK program, and prints the texts of its windows as lines while it runs: gtk_probe.py PROGRAM ARGUMENT…

The lines `type TEXT` and `click LABEL` on standard input fill the entry and click a button.
"""
import json, runpy, sys, threading

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk


def widgets(widget):
    yield widget
    child = widget.get_first_child()
    while child is not None:
        yield from widgets(child)
        child = child.get_next_sibling()


def every(kind):
    return [widget for window in Gtk.Window.list_toplevels() for widget in widgets(window) if isinstance(widget, kind)]


def report():
    print(json.dumps([label.get_label() for label in every(Gtk.Label)]), flush=True)
    return True


def act(word, text):
    if word == "type":
        every(Gtk.Entry)[0].set_text(text)
        return False
    # As for a person, a button that is off can't be clicked yet.
    for button in every(Gtk.Button):
        if button.get_label() == text and button.get_sensitive():
            button.emit("clicked")
            return False
    return True


def obey():
    for line in sys.stdin:
        GLib.timeout_add(20, act, *line.rstrip("\n").split(" ", 1))


threading.Thread(target=obey, daemon=True).start()
GLib.timeout_add(50, report)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
