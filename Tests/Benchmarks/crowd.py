"""A cached token of B while many uids press on the daemon, against B with nothing else going on.

Needs root, to be many users. B is read by uid 1001, which has the role use. The others are

- subordinate uids of one user, in a private /etc/subuid, or uids without any role: 64 of them, each with a connection on
  which it calls as fast as answers come, as in S3 of the security review;
- slow readers: 128 uids that ask for long answers and read none.

The figures are ratios of one run, and the memory that the daemon grows by. Meanwhile an idle newcomer must get a connection,
with a role and without. As a yardstick, a single uid with a role has 64 connections.
"""
import json, os, select, signal, subprocess, sys, time

import flood

CALLS, READERS = 64, 128
TOKEN = b'{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"instance":"b"}}\n'
LONG = b'{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}\n'


def attack(path, kind, first):
    """One child for each uid, forked from here, so that ending this process group ends them all."""
    for number in range(READERS if kind == "readers" else CALLS):
        if os.fork() == 0:
            flood.become(first if kind == "single" else first + number)
            try:
                (read_nothing if kind == "readers" else call)(path)
            except OSError:
                pass
            os._exit(0)
    signal.pause()


def call(path):
    """Calls one after the other, and connects again when refused."""
    while True:
        try:
            peer = flood.connect(path)
            while True:
                peer.sendall(TOKEN * 8)
                if not peer.recv(1 << 16):
                    break
        except OSError:
            pass
        time.sleep(0.05)


def read_nothing(path):
    while True:
        try:
            peer = flood.connect(path)
            peer.setblocking(False)
            while True:
                select.select([], [peer], [])
                peer.send(LONG * 64)
        except OSError:
            time.sleep(0.5)


def newcomer(path, uid):
    """Whether a process of this uid gets a connection and an answer."""
    there, here = os.pipe()[::-1]
    if (child := os.fork()) == 0:
        try:
            flood.become(uid)
            peer = flood.connect(path)
            peer.settimeout(30)
            peer.sendall(b'{"jsonrpc":"2.0","id":1,"method":"daemon.info"}\n')
            answer = json.loads(peer.makefile("rb").readline())
            os.write(there, b"1" if "result" in answer else b"0")
        finally:
            os._exit(0)
    os.close(there)
    said = os.read(here, 1)
    os.close(here)
    os.waitpid(child, 0)
    return said == b"1"


def run(programs, results):
    if os.getuid() != 0:
        print("crowd: needs root, to become other users")
        return
    seconds = max(3, programs.arguments.seconds)
    for kind, first, what in (
            ("single", 1002, "64 connections of one uid"),
            ("calls", 200_000, "64 subordinate uids of one user"), ("calls", 300_000, "64 uids without a role"),
            ("readers", 300_000, "128 slow readers without a role"),
            ("readers", 200_000, "128 slow readers, subordinate uids of one user")):
        daemon = programs.daemon(f"crowd-{kind}-{first}", subordinates="1002:200000:65536\n")
        daemon.start()
        daemon.sign_in("b", access={"use": ["uid:1001", "uid:1002"]})

        def latency():
            out = flood.child("measure", daemon.path, seconds, stdout=-1).communicate()[0].split()
            return {"p50": float(out[0]), "p99": float(out[1])}

        def pressed():
            attacker = subprocess.Popen(
                [sys.executable, __file__, kind, daemon.path, str(first)], start_new_session=True)
            time.sleep(3)
            try:
                figures = latency()
                figures["grown"] = daemon.resident - memory
                figures["newcomer"] = float(newcomer(daemon.path, 1001) and newcomer(daemon.path, 1003))
                return figures
            finally:
                os.killpg(attacker.pid, signal.SIGKILL)
                attacker.wait()
                # The next round begins with full buckets.
                time.sleep(2)

        memory = daemon.resident
        figures = programs.rounds({"quiet": latency, "pressed": pressed})
        ratios = {key: figures["pressed"][key] / figures["quiet"][key] for key in ("p50", "p99")}
        results[f"crowd of {what}"] = {**figures, "ratios": ratios}
        print(
            f"B while there are {what}: p50 {ratios['p50']:.2f} x, p99 {ratios['p99']:.2f} x of quiet "
            f"({figures['quiet']['p99']:.0f} us); memory +{figures['pressed']['grown'] / 1024:.0f} MiB; newcomers "
            f"{'get in' if figures['pressed']['newcomer'] == 1 else 'are refused'}")
        daemon.stop()


if __name__ == "__main__":
    attack(sys.argv[2], sys.argv[1], int(sys.argv[3]))
