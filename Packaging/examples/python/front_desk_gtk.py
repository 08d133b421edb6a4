#!/usr/bin/python3
"""A front desk in GTK 4: a window that shows who is signed in at an instance and what happened, and signs people in and out.

    ./front_desk_gtk.py front-desk PROGRAM

PROGRAM stands for your backend: PROGRAM NAME prints the JWT of a person. It needs python3-gi and gir1.2-gtk-4.0. All calls
wait in threads; only `idle_add` reaches the window.
"""
import subprocess, sys, threading, time
from typing import Any, Callable, Optional

import gi
import sdkd
from sdkd.types import Instance

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk


class Window(Gtk.ApplicationWindow):
    def __init__(self, app: Any, instance: str, tokens: str = "false") -> None:
        super().__init__(application=app, title=f"Front desk: {instance}", default_width=420, default_height=360)
        self.instance, self.tokens, self.daemon = instance, tokens, sdkd.Client()
        self.cursor: Optional[str] = None
        self.shown = ("Connecting …", "")
        self.user = Gtk.Label(label=self.shown[0], css_classes=["title-1"])
        self.state = Gtk.Label(css_classes=["dim-label"], wrap=True)
        self.name = Gtk.Entry(placeholder_text="Name", hexpand=True)
        self.sign_in = Gtk.Button(label="Sign in", css_classes=["suggested-action"])
        self.sign_out = Gtk.Button(label="Sign out")
        self.sign_in.connect("clicked", lambda _: self.run(self.log_in, self.name.get_text()))
        self.sign_out.connect("clicked", lambda _: self.run(self.log_out))
        row = Gtk.Box(spacing=6)
        for child in (self.name, self.sign_in, self.sign_out):
            row.append(child)
        self.list = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE, css_classes=["boxed-list"])
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12, margin_top=18, margin_bottom=18,
                      margin_start=24, margin_end=24)
        for child in (self.user, self.state, row, Gtk.ScrolledWindow(child=self.list, vexpand=True)):
            box.append(child)
        self.set_child(box)
        threading.Thread(target=self.follow, daemon=True).start()

    # In threads

    def run(self, work: Callable[..., Any], *arguments: str) -> None:
        """Calls the daemon for a button. Both are off meanwhile; the events show what has changed."""
        self.sign_in.set_sensitive(False)
        self.sign_out.set_sensitive(False)

        def call() -> None:
            failure = ""
            try:
                work(*arguments)
            except sdkd.Error as error:
                failure = error.sentence()
            GLib.idle_add(self.finish, failure)

        threading.Thread(target=call, daemon=True).start()

    def log_in(self, name: str) -> None:
        jwt = subprocess.run([self.tokens, name], stdout=subprocess.PIPE, text=True).stdout.strip()
        self.daemon.messaging.login_user(self.instance, jwt)

    def log_out(self) -> None:
        try:
            self.daemon.messaging.logout_user(self.instance)
        except sdkd.Error as error:
            if error.reason != "network":
                raise
            self.daemon.messaging.logout_user(self.instance, local_only=True)  # The next person needs the desk.

    def follow(self) -> None:
        while True:
            try:
                with self.daemon.events(
                    instances=[self.instance], since=self.cursor, on_status=self.connection
                ) as events:
                    events.start()
                    self.read()
                    for event in events:
                        self.cursor = event["cursor"]
                        GLib.idle_add(self.add, event["type"], event.get("time", ""))
                        self.read()
            except sdkd.Error as error:
                GLib.idle_add(self.show_connection, error)
                time.sleep(error.retry_after or 1)

    def connection(self, status: sdkd.ConnectionStatus) -> None:
        GLib.idle_add(self.show_connection, status.error)

    def read(self) -> None:
        """Reads the user after every event: one can expire, be locked or be replaced, too."""
        GLib.idle_add(self.show, self.daemon.instance(self.instance))

    # In the window

    def show(self, found: Instance) -> None:
        user, is_expired = found["user"], found["state"] == "reauthNeeded"
        name = user.get("name") or user.get("externalId") or user.get("id") or "Nobody"
        what = sdkd.sentence("reauthNeeded") if is_expired else f"{found['kind']}: {found['state']}"
        self.shown = (name, what)
        self.show_connection(None)

    def show_connection(self, error: Optional[sdkd.Error]) -> None:
        """Shows that the daemon is away, or what held before: events tell what is new."""
        user, state = ("Offline", error.sentence()) if error else self.shown
        self.user.set_label(user)
        self.state.set_label(state)

    def finish(self, failure: str) -> None:
        self.sign_in.set_sensitive(True)
        self.sign_out.set_sensitive(True)
        if failure:
            self.state.set_label(failure)

    def add(self, event: str, time: str) -> None:
        self.list.prepend(Gtk.Label(label=f"{time[11:19]}  {event}", xalign=0, margin_start=8))


app = Gtk.Application(application_id="org.example.FrontDesk")
app.connect("activate", lambda app: Window(app, *sys.argv[1:3]).present())
sys.exit(app.run())
