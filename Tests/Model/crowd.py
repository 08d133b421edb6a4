"""One user with very many uids, many uids without any role, and the newcomer whom they may not keep out."""
import json, time

from actors import Actor
from wire import PATIENCE, Lost

USER, NEWCOMER = 61003, 61004
# Who may use the instances of all groups, besides each group's own uid.
USERS = [USER, NEWCOMER]
GAMES = 60
# `[limits]` and `[[access.create]]` of the run.
OF_A_USER, OF_STRANGERS, INSTANCES = 32, 128 // 4, 3
BESIDES = {"shuttingDown", "cancelled", "storeUnavailable"}
# After a start, the rules count for connections within a second: so long everybody is a stranger.
UNTIL_KNOWN = 2


def subordinate(random):
    """A uid of `USER`, which has no rule of its own."""
    return 700_000 + random.randint(0, 65_535)


def greet(world, line):
    """The reason why a new connection is refused; `None` when it is served."""
    try:
        line.socket.sendall(b'{"jsonrpc":"2.0","id":0,"method":"daemon.info"}\n')
    except OSError:
        pass
    data, end = b"", time.monotonic() + PATIENCE
    while b"\n" not in data and time.monotonic() < end:
        try:
            part = line.socket.recv(1 << 16)
        except OSError:
            part = b""
        if not part:
            line.lose()
        data += part
    answer = json.loads(data)
    error = answer.get("error")
    if error and (answer["id"] is not None or not error["data"]["retryable"]) and error["data"]["reason"] not in BESIDES:
        world.fail(f"a connection is refused with {data[:300]}", line.owner)
    return error and error["data"]["reason"]


class Crowd(Actor):
    pace = 0.05

    def __init__(self, world, name):
        super().__init__(world, name)
        # Instances that certainly exist, by the uid that made them.
        self.made = {}
        # The uids that may have made one, who have a role then.
        self.makers = set()

    def open(self):
        self.held, self.life = [], None

    def step(self):
        if self.life != self.world.daemon.life:
            # The crowd is never the first that comes, so that the others find room before they are known.
            self.close()
            self.held, self.life = [], self.connect(USER, strict=False).life
            time.sleep(UNTIL_KNOWN)
        steps = [(self.arrive, 10), (self.leave, 1), (self.trespass, 2), (self.create, 4), (self.delete, 1)]
        self.random.choices([step for step, _ in steps], [weight for _, weight in steps])[0]()

    # Connections

    def arrive(self):
        for _ in range(self.random.randint(1, 8)):
            stranger = 1_000_000 + self.random.randint(0, 999)
            uid = self.random.choice([USER, USER, subordinate(self.random), stranger, stranger])
            line = self.visit(uid)
            if line:
                self.held.append((uid, line))
                self.check_quotas()

    def visit(self, uid, gid=None):
        """A connection that is served; `None` when there are too many."""
        line = self.connect(uid, strict=False, gid=gid)
        reason = greet(self.world, line)
        if not reason:
            return line
        self.world.occurred["connections beyond a quota"] += 1
        self.part(line)

    def part(self, line):
        line.close()
        self.lines.remove(line)

    def check_quotas(self):
        if self.life != self.world.daemon.life:
            return
        own = sum(uid < 1_000_000 for uid, _ in self.held)
        strangers = sum(uid != USER and uid not in self.makers for uid, _ in self.held)
        self.world.count("quotas hold for all uids of a user, and for all strangers together")
        if own > OF_A_USER or strangers > OF_STRANGERS:
            self.world.fail(f"a user with its subordinate uids has {own} connections, strangers have {strangers}", self.name)

    def leave(self):
        self.random.shuffle(self.held)
        for _ in range(self.random.randint(0, len(self.held) // 4)):
            self.part(self.held.pop()[1])

    # Rights

    def trespass(self):
        """A subordinate uid asks for what its user may use, or has made."""
        uid = subordinate(self.random)
        line = self.visit(uid, self.random.choice([None, GAMES]))
        if not line:
            return
        names = [one.name for one in self.world.instances if one.group != "w"] + [name for name, owner in self.made.items() if owner != uid]
        method = self.random.choice(["instance.get", "token.get", "session.open", "instance.currentUser"])
        name = self.random.choice(names)
        self.expect_hidden(line, method, {"instance": name})
        self.part(line)

    def expect_hidden(self, line, method, params):
        result, error = line.call(method, params)
        self.world.count("a subordinate uid has no right of its user")
        if not error or error["data"]["reason"] not in BESIDES | {"instanceNotFound"}:
            self.world.fail(f"uid {line.uid} of the user {USER} gets {method} {params}: {error or result}", self.name)

    # Instances

    def create(self):
        uid = self.random.choice([USER, subordinate(self.random)])
        line = self.visit(uid, GAMES)
        if not line:
            return
        self.makers.add(uid)
        name = f"k-{self.random.randint(0, 9)}"
        settings = {"base_url": "https://listed.test/ns/busy/zm", "app_id": "5f0000000000000000000001"}
        result, error = line.call("instance.create", {"instance": name, "kind": "zendesk.messaging", "settings": settings})
        if result:
            self.made[name] = uid
        elif error["data"]["reason"] == "tooManyInstances":
            self.world.occurred["instances beyond a maximum"] += 1
        self.world.count("a create rule's maximum holds for all uids of a user")
        if len(self.made) > INSTANCES:
            self.world.fail(f"the uids of the user {USER} have made {self.made}", self.name)
        self.part(line)

    def delete(self):
        """The uid that made an instance deletes it; nobody else of its user can."""
        if not self.made:
            return
        name = self.random.choice(sorted(self.made))
        other = self.visit(USER if self.made[name] != USER else subordinate(self.random), GAMES)
        if other:
            self.expect_hidden(other, "instance.delete", {"instance": name})
            self.part(other)
        line = self.visit(self.made.pop(name), GAMES)
        if line:
            line.call("instance.delete", {"instance": name})
            self.part(line)


class Newcomer(Actor):
    """Somebody with a role who holds no connection, and gets one whenever it comes."""
    pace = 0.05

    def open(self):
        self.life, self.known = None, None

    def step(self):
        line = self.connect(NEWCOMER, strict=False)
        if line.life != self.life:
            self.life, self.known = line.life, time.monotonic() + 3 * UNTIL_KNOWN
        reason = greet(self.world, line)
        line.close()
        self.lines.remove(line)
        self.world.count("a newcomer gets a connection")
        if reason and reason not in BESIDES and time.monotonic() > self.known:
            self.world.fail(f"a newcomer with a role gets no connection: {reason}", self.name)
