"""A start with instances whose tokens have all ended meanwhile, against the same start while they are valid: the seconds until the
first answer."""
import shutil, time

from programs import Client

LIFETIME = 240


def run(programs, results):
    count = programs.arguments.instances
    daemon = programs.daemon("ended")
    daemon.start()
    client = Client(daemon.path)
    began = time.time()
    jwt = programs.mint("bench", LIFETIME)
    names = [f"i{number}" for number in range(count)]
    for first in range(0, count, 32):
        some = names[first:first + 32]
        for name in some:
            client.send(
                "instance.create", instance=name, kind="zendesk.messaging", settings=dict(programs.settings, realtime="off"))
            client.send("messaging.loginUser", instance=name, jwt=jwt)
        client.file.flush()
        for _ in some * 2:
            client.receive()
    client.close()
    daemon.stop()
    shutil.copytree(daemon.state, daemon.state + ".kept")

    def start():
        shutil.rmtree(daemon.state)
        shutil.copytree(daemon.state + ".kept", daemon.state)
        began = time.monotonic()
        daemon.start()
        client = Client(daemon.path)
        client.call("instance.get", instance=names[-1])
        seconds = time.monotonic() - began
        client.close()
        daemon.stop()
        with open(daemon.log) as log:
            # As systemd marks them: <3> is an error.
            errors = sum(line.startswith("<3>") or " error" in line for line in log)
        return seconds, errors

    if time.time() > began + LIFETIME - 20:
        return print(f"ended: {count} logins took longer than their tokens live")
    valid = [start()[0] for _ in range(3)]
    time.sleep(max(0, began + LIFETIME + 5 - time.time()))
    ended = [start() for _ in range(3)]
    ratio = sorted(seconds for seconds, _ in ended)[1] / sorted(valid)[1]
    results["ended"] = {"valid": valid, "ended": [seconds for seconds, _ in ended], "ratio": ratio}
    print(
        f"a start with {count} instances whose tokens have ended: first answer after {ratio:.2f} x the time with valid tokens "
        f"({sorted(valid)[1]:.2f} s); {sum(errors for _, errors in ended)} lines of errors")
