"""The programs for edna Chat Center: that of its page, and the example that sends a message."""
import http.server, json, os, shutil, subprocess, threading, urllib.request

import checks
from programs import EXAMPLES, Shop, snippets
from world import eventually

PAGE = "Packaging/documentation/vendors/edna-chatcenter.md"
ALICE = {"user": {"identifier": "c0ffee00c0ffee00c0ffee00c0ffee00", "name": "Alice"}, "auth": {"token": "t-of-alice"}}
#: Debian's Node 18 has no WebSocket; that of the package `ws` takes its place.
WITH_WEBSOCKET = "globalThis.WebSocket = require('/usr/share/nodejs/ws');\n"


class Backend(http.server.BaseHTTPRequestHandler):
    """Answers as `backend.py` of the page does."""

    def do_GET(self):
        assert self.path == "/login?user=alice", self.path
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(ALICE).encode())

    def log_message(self, *_):
        pass


class Desk(Shop):
    """A daemon whose instance `front-desk` is of edna, and nobody is signed in."""

    def log_in(self):
        self.world.call("instance.delete", instance="front-desk")
        url = self.world.url
        self.world.call("instance.create", instance="front-desk", kind="edna.chatcenter", settings={
            "provider_uid": "demo_provider", "rest_url": f"{url}/ed", "ws_url": f"{url.replace('http', 'ws', 1)}/ed/ws"})

    def asked(self, path, body=None):
        """The sandbox's answer to a request."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(self.world.url + path, body and json.dumps(body).encode(), timeout=60) as answer:
            return json.load(answer)

    def events(self):
        return [event["type"] for event in self.world.call("events.list", instances=["front-desk"])["events"]]

    def wrote(self, name, text):
        path = os.path.join(self.world.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


def edna(binaries):
    def page():
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with Desk(binaries) as desk:
            [(language, text)] = snippets(PAGE)
            assert language == "js" and text.count("http://127.0.0.1:8000/") == 1, text
            text = text.replace("http://127.0.0.1:8000/", f"http://127.0.0.1:{server.server_port}/")
            words, variables = desk.words(desk.wrote("page.mjs", text))
            lines = checks.command(*words, environment=variables, limit=60).splitlines()
            # Node 18 warns of `fetch`.
            assert [line for line in lines if line in ("Alice", "signed out")] == ["Alice", "signed out"], lines
            assert desk.world.call("instance.get", instance="front-desk")["state"] == "loggedOut"
        server.shutdown()
        server.server_close()

    def send():
        with Desk(binaries) as desk:
            desk.world.call("chatCenter.authorize", instance="front-desk", wait=True, **ALICE)
            [before] = desk.asked("/_state")["ed"]["users"]
            begun = len(desk.asked("/_log")["requests"])
            path = shutil.copy(os.path.join(EXAMPLES, "node", "edna-message.mjs"), desk.world.folder)
            [*node, path], variables = desk.words(path)
            words = [*node, "--require", desk.wrote("websocket.cjs", WITH_WEBSOCKET), path, "front-desk", "my-device", "My order"]
            assert checks.command(*words, environment=variables, limit=60) == "sent\n"

            sent = [json.loads(entry["body"]) for entry in desk.asked("/_log")["requests"][begun:] if entry["method"] == "WS"]
            assert [frame["action"] for frame in sent] == ["registerDevice"] + 3 * ["sendMessage"], sent
            contents = [frame["data"]["content"] for frame in sent[1:]]
            assert [content["type"] for content in contents] == ["INIT_CHAT", "CLIENT_INFO", "MESSAGE"], contents
            assert contents[2]["text"] == "My order"
            # A device of its own, and the user as sdkd has described them.
            [after], devices = desk.asked("/_state")["ed"]["users"], desk.asked("/_state")["ed"]["devices"]
            assert after["info"] == {**before["info"], "libVersion": "1.0"}, (before, after)
            assert len(devices) == 2 and "my-device" in {device["deviceUid"] for device in devices}, devices

            # A refusal is the program's error, and the daemon learns of it.
            desk.asked("/_tokens", {"token": "another"})
            done = subprocess.run(words, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            assert done.returncode == 1 and done.stderr == "registerDevice: UNAUTHORIZED invalid\n", done
            eventually("the daemon looks at the refusal", lambda: "authenticationFailed" in desk.events())

    yield "the program on the page of edna signs in and out", page
    yield "the example edna-message.mjs sends a message over a WebSocket of its own", send


CHECKS = {"edna": edna}
