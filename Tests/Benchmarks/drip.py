"""Sign-ins at one vendor while another one floods its WebSocket with empty pings, against the same with nothing else going on."""
import base64, hashlib, socket, statistics, threading, time

from programs import Client

SIGN_INS = 20


class Flood:
    """A Chat Center that answers each upgrade with empty pings, as fast as they are read, until the connection is closed."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.pings = self.upgrades = 0
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def place(self):
        return f"127.0.0.1:{self.listener.getsockname()[1]}"

    def accept(self):
        while True:
            threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def serve(self, peer):
        try:
            head = b""
            while b"\r\n\r\n" not in head:
                head += peer.recv(65536) or b"\r\n\r\n"
            keys = [line.split(b":", 1)[1].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key:")]
            if not keys:
                return peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
            accept = base64.b64encode(hashlib.sha1(keys[0] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            peer.sendall(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
            self.upgrades += 1
            threading.Thread(target=self.discard, args=(peer,), daemon=True).start()
            while True:
                peer.sendall(b"\x89\x00" * 4096)
                self.pings += 4096
        except OSError:
            pass

    def discard(self, peer):
        try:
            while peer.recv(1 << 16):
                pass
        except OSError:
            pass


def run(programs, results):
    daemon = programs.daemon("drip")
    daemon.start()
    client = Client(daemon.path)
    client.call(
        "instance.create", instance="b", kind="zendesk.messaging", settings=dict(programs.settings, realtime="off"))
    tokens = [programs.mint(user, 36000) for user in ("alice", "bob")]
    flood = Flood()

    def sign_ins():
        times = []
        for number in range(SIGN_INS):
            began = time.monotonic()
            client.call("messaging.loginUser", instance="b", jwt=tokens[number % 2])
            times.append((time.monotonic() - began) * 1000)
        return {"p50": statistics.median(times), "most": max(times)}

    def flooded():
        client.call(
            "instance.create", instance="a", kind="edna.chatcenter",
            settings={"rest_url": f"http://{flood.place}", "ws_url": f"ws://{flood.place}/ws", "provider_uid": "p"})
        client.call("chatCenter.authorize", instance="a", user={"identifier": "user-a-7f3a"}, auth={"token": "edna-token-of-a"})
        upgrades = flood.upgrades
        figures = sign_ins()
        figures["upgrades"] = flood.upgrades - upgrades
        client.call("instance.delete", instance="a")
        return figures

    figures = programs.rounds({"quiet": sign_ins, "flooded": flooded})
    ratios = {key: figures["flooded"][key] / figures["quiet"][key] for key in ("p50", "most")}
    results["drip"] = {**figures, "ratios": ratios}
    print(
        f"sign-ins beside a vendor that sent {flood.pings:,} empty pings over {flood.upgrades} connections: p50 "
        f"{ratios['p50']:.2f} x, slowest {ratios['most']:.2f} x of quiet ({figures['quiet']['p50']:.1f} ms)")
    client.close()
    daemon.stop()
