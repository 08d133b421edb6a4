"""Sequences that have failed once. They are played first in every run, whatever its seed.

Each is named after what went wrong. Its number is its place in the list.
"""

SLOW = ("pace", {"pace": "slow"})
IN = [("sign_in", {"user": "alice", "fresh": True, "wait": True}), ("rest", {"pause": "rest"})]


def again(user, fresh=True, **more):
    return "sign_in", {"user": user, "fresh": fresh, "wait": False} | more


def shared(user, service, fresh=True, **more):
    """A sign-in with the grant that the services share."""
    return again(user, fresh, service=service, shared=True, **more)


def hold(route, *seconds, early=False):
    """The requests of the route are answered after these times, all later ones after the last.

    They take effect then, too; with `early` when they arrive.
    """
    return "hold", {"route": route, "seconds": seconds, "early": early}


EDNA = ("config", "registerDevice", "INIT_CHAT", "CLIENT_INFO", "history", "CLIENT_OFFLINE")
REST = "rest", {"pause": "rest"}
KNOWN = [
    ("f", "a bridge that only fails", [
        *IN, ("delegate", {"way": "error"}), ("revoke", {}), *[("refresh", {"pause": "answer"})] * 5]),
    ("f", "a change while a person is asked", [
        ("delegate", {"way": "silent"}), ("push", {"service": "knowledge"}), ("put", {"line": 1, "pause": 0.1}),
        ("sign_out", {"line": 2, "service": "knowledge"})]),
    ("m", "a change while the vendor registers a device", [*IN, hold("push", 0.9), ("push", {}), ("put", {"line": 1})]),
    ("m", "a user who returns", [
        *IN, hold("logout", 0.8), again("bob", line=1), again("alice", line=1, pause="answer")]),
    ("m", "two logins of one user", [
        hold("login", 0.5), hold("logout", 0.3), again("alice"), again("alice", pause=0.1)]),
    ("m", "one login twice", [SLOW, again("alice"), again("alice", False, line=1, pause=0.1)]),
    ("s", "one identity twice", [SLOW, again("alice"), again("alice", False, pause=0.1)]),
    ("s", "two identities without token", [("delegate", {"way": "late"}), ("ask_in", {}), ("ask_in", {"pause": 0.2})]),
    ("e", "another authorize between two of one user", [
        *IN, *(hold(route, 0.15) for route in EDNA), again("carol"), again("bob", pause=0.05), again("carol", pause=0.05)]),
    ("e", "a chat that opens during a logout", [
        *IN, ("update_data", {}), REST, SLOW, ("chat", {}), ("sign_out", {"line": 1, "pause": 0.1, "wait": True})]),
    ("e", "a renewal during a logout", [
        *IN, SLOW, ("refresh", {}), ("sign_out", {"line": 1, "pause": 0.3, "wait": True})]),
    ("e", "a history that fails", [
        ("fault", {"route": "history", "fault": "503"}), again("alice"), ("user", {"pause": "rest"})]),
    ("e", "a history that hangs", [
        ("fault", {"route": "history", "fault": "hang"}), again("alice"), ("sign_out", {"pause": 0.4})]),
    ("e", "what is read behind an authorize", [
        *IN, ("put", {"pause": "answer"}), SLOW, again("bob", line=1),
        *[(name, {"line": 1}) for name in ("token", "get", "put", "user")]]),
    ("e", "an app's own logout", [
        SLOW, again("alice"), ("sign_out", {"pause": 0.1}), again("bob"), ("deauthorize", {"pause": 0.1})]),
    ("f", "a revocation that is tried again", [
        *IN, ("fault", {"route": "revocation", "fault": "503"}), ("sign_out", {}), again("alice", False, pause="answer")]),
    ("m", "a late login during a stop", [
        hold("login", 0.8, 0.3), again("alice"), again("bob", pause=0.1), ("restart", {"pause": 0.05})]),
    ("e", "a late authorize during a stop", [
        hold("history", 0.8, 0.3), again("alice"), again("bob", pause=0.1), ("restart", {"pause": 0.05})]),
    ("e", "a former user who is told of twice", [
        ("settings", {"settings": {"on_switch": "logout"}}), *IN, hold("CLIENT_OFFLINE", 0.5), again("bob"),
        again("bob", False, pause=0.1)]),
    ("s", "an identity without token again during its exchange", [
        hold("exchange", 0.6), ("ask_in", {}), ("ask_in", {"pause": 0.3})]),
    ("m", "a login with a new token that a logout overtakes", [
        *IN, hold("login", 0.4), hold("logout", 0.6, early=True), again("alice"), ("sign_out", {"pause": 0.1})]),
    ("e", "an authorize with another token that a logout overtakes", [
        *IN, hold("CLIENT_INFO", 0.4), hold("CLIENT_OFFLINE", 0.6, early=True), again("alice"), ("sign_out", {"pause": 0.1})]),
    ("s", "the same identity after a lock", [
        *IN, ("token", {}), ("revoke", {"pause": "answer"}), ("fault", {"route": "exchange", "fault": "refusal"}), ("reject", {}),
        ("token", {"pause": "answer"}), REST, again("alice", False)]),
    ("f", "the same settings twice", [*IN, hold("user", 0.5), again("bob", named=False), again("bob", False, named=False)]),
    ("f", "a late refresh of a grant that is set again", [
        *IN, hold("refresh", 0.6), hold("user", 1), ("fault", {"route": "revocation", "fault": "503"}), ("refresh", {}),
        again("bob", pause=0.1), again("alice", False, named=False, pause=0.1)]),
    ("f", "a revocation that another service's login overtakes", [
        shared("alice", "cases"), again("carol", service="knowledge"), REST,
        ("fault", {"route": "revocation", "fault": "503"}), ("sign_out", {"pause": "answer"}), hold("user", 1.7),
        shared("alice", "knowledge", False, named=False, pause="answer"), REST]),
    ("f", "a revocation of a rotated token whose grant is set again", [
        shared("alice", "cases"), REST, ("refresh", {}), ("fault", {"route": "revocation", "fault": "503"}),
        ("sign_out", {"pause": "answer"}), shared("alice", "knowledge", False, pause="answer"), REST]),
    ("f", "a late refresh of a grant that another service gets", [
        shared("alice", "cases"), REST, hold("refresh", 0.8), ("fault", {"route": "revocation", "fault": "503"}),
        ("refresh", {}), again("bob", pause=0.1), shared("alice", "knowledge", False, pause="answer"), REST]),
    ("e", "a user who returns in vain while they are logged out", [
        ("settings", {"settings": {"on_switch": "logout"}}), *IN, hold("CLIENT_OFFLINE", 0.2), again("bob"),
        ("fault", {"route": "registerDevice", "fault": "cut"}), again("alice", line=1, pause=0.05, wait=True)]),
    ("f", "settings whose revocation is on its way", [
        shared("alice", "cases"), REST, hold("revocation", 0.8), ("sign_out", {}),
        shared("alice", "knowledge", False, pause=0.1), REST]),
]


def steps(number):
    """The steps of a known sequence, with what they leave open."""
    usual = {"pause": 0, "line": 0, "service": "cases", "key": "k1", "wait": False}
    return [usual | {"at": at, "do": do} | more for at, (do, more) in enumerate(KNOWN[number][2])]
