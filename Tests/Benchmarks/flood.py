"""A cached token of B while another user floods the daemon, against B with nothing else going on.

Needs root, to be two other users: B is read by uid 1001, and uid 1002 has several connections on which it sends calls,
junk and long messages as fast as they are taken. B's own calls stay below its calls a second, as a decent client's do.
"""
import os, select, signal, socket, statistics, subprocess, sys, time

CONNECTIONS = 12
CALL = b'{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"instance":"b"}}\n'
PIECES = (
    CALL * 500, b"{\n" * 20_000, b"{}\n[]\n" * 6000, b'"' + b"x" * 1_000_000 + b'"\n',
    b"[" + b",".join([CALL.strip()] * 64) + b"]\n", b'{"jsonrpc":"2.0","method":"nothing"}\n' * 1000)


def become(uid):
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)


def connect(path):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(path)
    return peer


def flood(path):
    """Sends for ever; reads what comes, so that nothing but the daemon's own pace holds it up."""
    become(1002)
    rest, taken = {}, {}
    poller = select.epoll()

    def begin(number):
        peer = connect(path)
        peer.setblocking(False)
        rest[peer.fileno()] = [peer, PIECES[number % len(PIECES)], 0, number]
        poller.register(peer, select.EPOLLIN | select.EPOLLOUT)

    for number in range(CONNECTIONS):
        begin(number)
    while True:
        for descriptor, events in poller.poll():
            peer, piece, sent, number = entry = rest[descriptor]
            try:
                if events & select.EPOLLIN and not peer.recv(1 << 20):
                    raise ConnectionResetError
                if events & select.EPOLLOUT:
                    entry[2] = (sent + peer.send(memoryview(piece)[sent:])) % len(piece)
            except BlockingIOError:
                pass
            except OSError:
                del rest[descriptor]
                peer.close()
                begin(number)


def measure(path, seconds):
    """The latencies of B's calls in microseconds, one at a time, 400 a second at most."""
    become(1001)
    peer = connect(path)
    latencies = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        peer.sendall(CALL)
        answer = peer.recv(65536)
        latencies.append((time.monotonic() - began) * 1e6)
        if b'"result"' not in answer:
            sys.exit(answer.decode())
        time.sleep(max(0, 0.0025 - (time.monotonic() - began)))
    latencies.sort()
    print(*(latencies[int(len(latencies) * share)] for share in (0.5, 0.99)))


def child(*arguments, **more):
    return subprocess.Popen([sys.executable, __file__, *map(str, arguments)], **more)


def run(programs, results):
    if os.getuid() != 0:
        print("flood: needs root, to become other users")
        return
    daemon = programs.daemon("flood")
    daemon.start()
    daemon.sign_in("b", access={"use": ["uid:1001", "uid:1002"]})
    # Two seconds of quiet is what an empty bucket needs to be full again.
    seconds = max(3, programs.arguments.seconds)

    def latency():
        out = child("measure", daemon.path, seconds, stdout=subprocess.PIPE).communicate()[0].split()
        return {"p50": float(out[0]), "p99": float(out[1])}

    def flooded():
        attacker = child("flood", daemon.path)
        time.sleep(2)
        try:
            before, began = cpu(daemon.process.pid), time.monotonic()
            figures = latency()
            figures["cpu"] = (cpu(daemon.process.pid) - before) / (time.monotonic() - began)
            return figures
        finally:
            attacker.send_signal(signal.SIGKILL)
            attacker.wait()

    def quiet():
        before, began = cpu(daemon.process.pid), time.monotonic()
        figures = latency()
        figures["cpu"] = (cpu(daemon.process.pid) - before) / (time.monotonic() - began)
        return figures

    memory = daemon.resident
    figures = programs.rounds({"quiet": quiet, "flooded": flooded})
    ratios = {key: figures["flooded"][key] / figures["quiet"][key] for key in ("p50", "p99")}
    results["flood"] = {**figures, "ratios": ratios, "grown_kib": daemon.resident - memory}
    print(
        f"B while another user floods on {CONNECTIONS} connections: p50 {ratios['p50']:.2f} x, p99 {ratios['p99']:.2f} x "
        f"of quiet ({figures['quiet']['p99']:.0f} us); processor {figures['flooded']['cpu']:.2f} of a core, "
        f"memory +{results['flood']['grown_kib']} KiB")
    daemon.stop()


def cpu(pid):
    """Seconds of processor time so far."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    {"flood": lambda path: flood(path), "measure": lambda path, seconds: measure(path, float(seconds))}[sys.argv[1]](
        *sys.argv[2:])
