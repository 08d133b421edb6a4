"""The programs for edna Chat Center: that of its page, the example that sends a message, and the one that is a service."""
import contextlib, functools, glob, http.server, json, os, shutil, signal, socket, subprocess, threading, urllib.request

import checks
from programs import EXAMPLES, Running, Shop, snippets
from world import eventually

PAGE = "Packaging/documentation/vendors/edna-chatcenter.md"
ALICE = {"user": {"identifier": "c0ffee00c0ffee00c0ffee00c0ffee00", "name": "Alice"}, "auth": {"token": "t-of-alice"}}
BOB = {"user": {"identifier": "b0bb0bb0b0bb0bb0b0bb0bb0b0bb0bb0", "name": "Bob"}, "auth": {"token": "t-of-bob"}}
#: What the examples print after a refusal of the token.
REFUSED = "edna refused the token: %s. sdkd was told. Try again with its next token.\n"
#: A program whose chat sends pings as fast as a test needs them, and that prints why it ends.
BEAT = """
import { connect } from 'sdkd';
import { openChat } from './edna-chat.mjs';

const [instance, deviceUid] = process.argv.slice(2);
const daemon = await connect();
const chat = openChat(daemon, instance, deviceUid, { heartbeat: 100 });
await chat.then(({ failed }) => failed).catch((error) => console.log(error.message));
daemon.close();
"""


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

    def __init__(self, binaries):
        super().__init__(binaries)
        # As the page links it, from Debian's node-ws.
        os.symlink("/usr/share/nodejs/ws", os.path.join(self.world.folder, "node_modules", "ws"))

    def log_in(self):
        self.world.call("instance.delete", instance="front-desk")
        url = self.world.url
        self.world.call("instance.create", instance="front-desk", kind="edna.chatcenter", settings={
            "provider_uid": "demo_provider", "rest_url": f"{url}/ed", "ws_url": f"{url.replace('http', 'ws', 1)}/ed/ws",
            "refresh": {"min_interval": 0}})

    def authorize(self, who):
        self.world.call("chatCenter.authorize", instance="front-desk", wait=True, **who)

    def example(self, name, *words):
        """The words and the environment that run an example with the device `my-device`."""
        for path in glob.glob(os.path.join(EXAMPLES, "node", "edna-*.mjs")):
            shutil.copy(path, self.world.folder)
        program, variables = self.words(os.path.join(self.world.folder, name))
        return [*program, "front-desk", "my-device", *words], variables

    def supply(self, token):
        """Attaches a delegate that answers each question with this token, as long as the daemon runs."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.world.socket)
        lines = connection.makefile("rwb")

        def send(**members):
            lines.write(json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n")
            lines.flush()

        def answer():
            with connection, contextlib.suppress(OSError):
                for question in map(json.loads, lines):
                    if "id" in question and "method" in question:
                        send(id=question["id"], result={"token": token})

        send(id=1, method="delegate.attach", params={"instances": ["front-desk"]})
        assert "result" in json.loads(lines.readline())
        threading.Thread(target=answer, daemon=True).start()

    def asked(self, path, body=None):
        """The sandbox's answer to a request."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(self.world.url + path, body and json.dumps(body).encode(), timeout=60) as answer:
            return json.load(answer)

    def requests(self, since=0):
        """What the sandbox has received."""
        return self.asked("/_log")["requests"][since:]

    def sockets(self):
        """The sockets of the example, and the tokens with which they were opened."""
        state = self.asked("/_state")["ed"]
        addresses = {device["deviceAddress"] for device in state["devices"] if device.get("deviceUid") == "my-device"}
        numbers = {session["socket"] for session in state["sessions"] if session["deviceAddress"] in addresses}
        opened = [entry for entry in self.requests() if entry["method"] == "GET" and entry.get("socket") in numbers]
        return {entry["socket"]: {name.lower(): text for name, text in entry["headers"].items()}["authorization"]
                for entry in opened}

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
            assert language == "js" and text.count("http://127.0.0.1:8788/") == 1, text
            text = text.replace("http://127.0.0.1:8788/", f"http://127.0.0.1:{server.server_port}/")
            words, variables = desk.words(desk.wrote("page.mjs", text))
            lines = checks.command(*words, environment=variables, limit=60).splitlines()
            # Node 18 warns of `fetch`.
            assert [line for line in lines if line in ("Alice", "signed out")] == ["Alice", "signed out"], lines
            assert desk.world.call("instance.get", instance="front-desk")["state"] == "loggedOut"
        server.shutdown()
        server.server_close()

    def send():
        with Desk(binaries) as desk:
            desk.authorize(ALICE)
            [before] = desk.asked("/_state")["ed"]["users"]
            begun = len(desk.requests())
            words, variables = desk.example("edna-message.mjs", "My order")
            assert checks.command(*words, environment=variables, limit=60) == "sent\n"

            sent = [json.loads(entry["body"]) for entry in desk.requests(begun) if entry["method"] == "WS"]
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
            assert failure(words, variables) == REFUSED % "UNAUTHORIZED invalid"
            eventually("the daemon looks at the refusal", lambda: "authenticationFailed" in desk.events())

    def failure(words, variables):
        """What a program says that fails."""
        done = subprocess.run(words, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and not done.stdout, done
        return done.stderr

    def refused(said, script):
        with Desk(binaries) as desk:
            desk.authorize(ALICE)
            begun = len(desk.requests())
            desk.asked("/_control", script)
            words, variables = desk.example("edna-message.mjs", "My order")
            assert failure(words, variables) == REFUSED % said
            # With a request of its own.
            eventually("the daemon looks at the refusal", lambda: any(
                entry["path"].endswith("/client/history") for entry in desk.requests(begun)))

    def beat():
        with Desk(binaries) as desk:
            desk.authorize(ALICE)
            desk.asked("/_control", {"route": "WS /ed/ws ping", "drop": True, "times": "forever"})
            desk.wrote("beat.mjs", BEAT)
            words, variables = desk.example("beat.mjs")
            assert checks.command(*words, environment=variables, limit=60) == "edna does not answer any more.\n"

    def serve():
        with Desk(binaries) as desk:
            words, variables = desk.example("edna-desk.mjs")
            with Running(words, variables) as program:
                def shows(line):
                    program.waits_for(f"it shows {line}", lambda lines: lines and lines[-1] == line)

                def opens():
                    """Waits until the chat is open with the token that the daemon gives now. Returns the socket and the id."""
                    def present(lines):
                        return lines[-1] == f"open, token {desk.world.call('token.get', instance='front-desk')['tokenId']}"

                    program.waits_for("the chat is open", present)
                    [(number, _)] = eventually("there is one chat", lambda: len(found := desk.sockets()) == 1 and found).items()
                    return number, program.lines[-1]

                shows("nobody is signed in")
                desk.authorize(ALICE)
                first, line = opens()
                assert desk.sockets() == {first: "t-of-alice"}
                program.say("My order")
                shows("sent")
                desk.asked("/_push", {"socket": first, "frame": {"action": "getStatuses"}})
                shows('edna sends "getStatuses"')

                # The vendor says on every connection that the token has expired. The chat continues with the next one.
                desk.supply("t2-of-alice")
                desk.asked("/_unauthorized", {"clientId": ALICE["user"]["identifier"], "details": "expired"})
                eventually("the chat has the next token", lambda: list(desk.sockets().values()) == ["t2-of-alice"])
                second, renewed = opens()
                assert first != second and line != renewed, program.lines

                # A connection that is lost is opened again.
                desk.asked("/_close", {"socket": second})
                third = eventually("there is another chat", lambda: [other for other in desk.sockets() if other != second])
                assert len(third) == 1 and opens()[0] == third[0], third

                # A restart of the daemon changes nothing. A logout after it ends the chat.
                desk.world.end()
                desk.world.start()
                assert list(desk.sockets()) == third
                desk.world.call("chatCenter.logout", instance="front-desk", wait=True)
                shows("nobody is signed in")
                eventually("the chat is closed", lambda: not desk.sockets())

                desk.authorize(BOB)
                opens()
                assert list(desk.sockets().values()) == ["t-of-bob"]
                assert program.ends(signal.SIGTERM) == 0, program.lines
                eventually("the chat is closed", lambda: not desk.sockets())
                printed = "\n".join(program.lines)
                for secret in ("t-of-", "t2-of-", ALICE["user"]["identifier"], BOB["user"]["identifier"], "My order"):
                    assert secret not in printed, printed

    yield "the program on the page of edna signs in and out", page
    yield "the example edna-message.mjs sends a message over a WebSocket of its own", send
    for said, script in (
            ("UNAUTHORIZED expired", {"route": "WS /ed/ws registerDevice", "reply": {
                "action": "getMessages", "correlationId": None, "data": {"error": "UNAUTHORIZED", "errorDetails": "expired"}}}),
            ("HTTP status 401", {"route": "GET /ed/ws", "status": 401})):
        yield f"the example edna-message.mjs ends and reports a refusal that names no frame: {said}", functools.partial(
            refused, said, script)
    yield "a chat of the examples ends when edna answers no ping", beat
    yield "the example edna-desk.mjs keeps a chat over losses, renewals, restarts and users, and ends on SIGTERM", serve


CHECKS = {"edna": edna}
