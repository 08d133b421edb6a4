#!/usr/bin/python3
"""A front desk in GTK 4: a window that shows who is signed in at an instance, and what happened.

    ./front_desk_gtk.py front-desk

It needs python3-gi and gir1.2-gtk-4.0. All calls wait in a thread; only `idle_add` reaches the window.
"""
import sys, threading
from typing import Any

import gi
import sdkd

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk


class Window(Gtk.ApplicationWindow):
    def __init__(self, app: Any, instance: str) -> None:
        super().__init__(application=app, title=f"Front desk: {instance}", default_width=420, default_height=300)
        self.instance = instance
        self.user = Gtk.Label(label="Connecting …", css_classes=["title-1"])
        self.state = Gtk.Label(css_classes=["dim-label"])
        self.list = Gtk.ListBox(vexpand=True, selection_mode=Gtk.SelectionMode.NONE, css_classes=["boxed-list"])
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12, margin_top=24, margin_bottom=24,
                      margin_start=24, margin_end=24)
        for child in (self.user, self.state, self.list):
            box.append(child)
        self.set_child(box)
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self) -> None:
        try:
            with sdkd.connect() as daemon, daemon.events(instances=[self.instance]) as events:
                events.start()
                self.read(daemon)
                for event in events:
                    GLib.idle_add(self.add, event["type"], event.get("time", ""))
                    self.read(daemon)
        except sdkd.Error as error:
            GLib.idle_add(self.show_state, "Not available", str(error))

    def read(self, daemon: sdkd.Client) -> None:
        found = daemon.instance(self.instance)
        user = found["user"]
        name = user.get("name") or user.get("externalId") or user.get("id") or "Nobody"
        GLib.idle_add(self.show_state, name, f"{found['kind']}: {found['state']}")

    def show_state(self, user: str, state: str) -> None:
        self.user.set_label(user)
        self.state.set_label(state)

    def add(self, event: str, time: str) -> None:
        self.list.prepend(Gtk.Label(label=f"{time[11:19]}  {event}", xalign=0, margin_start=8))


app = Gtk.Application(application_id="org.example.FrontDesk")
app.connect("activate", lambda app: Window(app, sys.argv[1]).present())
sys.exit(app.run())
