"""GLib's jsonrpc-glib as a client and delegate, with headers."""
import json, re, sys

import gi
gi.require_version("Jsonrpc", "1.0")
from gi.repository import Gio, GLib, Jsonrpc

path, instance, token = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]


def variant(value):
    if isinstance(value, dict):
        return GLib.Variant("a{sv}", {name: variant(member) for name, member in value.items()})
    if isinstance(value, list):
        return GLib.Variant("av", [variant(member) for member in value])
    return GLib.Variant({bool: "b", int: "x", str: "s"}[type(value)], value)


events = []


def notified(client, method, params):
    if method == "events.event":
        events.append(params.unpack())


def called(client, method, id, params):
    client.reply(id, variant({"token": token}))
    return True


stream = Gio.SocketClient().connect(Gio.UnixSocketAddress.new(path))
client = Jsonrpc.Client.new(stream)
client.connect("notification", notified)
client.connect("handle-call", called)
client.start_listening()


def call(method, **params):
    return client.call(method, variant(params))[1].unpack()


said = {"name": call("daemon.info")["name"]}
try:
    call("token.get", instance="nobody")
except GLib.Error as error:
    # The library gives the error as a text.
    said["code"] = int(re.search(r"-\d+", error.message)[0])
call("events.subscribe")
call("instance.create", **instance)
while not events:
    GLib.MainContext.default().iteration(True)
said["event"] = events[0]["event"]["type"]
value = "ä\n" * 6000
call("storage.put", instance="desk", key="k", value=value)
said["stored"] = call("storage.get", instance="desk", key="k")["value"] == value
call("delegate.attach", instances=["desk"])
print(json.dumps(said), flush=True)
loop = GLib.MainLoop()
GLib.io_add_watch(GLib.IOChannel.unix_new(0), GLib.PRIORITY_DEFAULT, GLib.IOCondition.HUP, lambda *_: loop.quit())
loop.run()
