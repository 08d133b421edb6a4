"""A place for every method of the contract: valid params, drawn at random. A kind's method need not have one here."""
import answers, facts, kinds

LONG = "x" * 1000


def of_kind(letter):
    """Draws an instance, as a rule of this kind, for other kinds answer `wrongKind`."""
    def draw(draw):
        return {"instance": draw.instance(letter if draw.random.random() < 0.9 else None)}
    return draw


class Draw:
    """One draw of params. `wild` says whether identities may be changed."""

    def __init__(self, world, random, wild):
        self.world, self.random, self.wild = world, random, wild

    def instance(self, letter=None):
        pool = [one for one in self.world.instances if one.is_wild or not self.wild]
        self.chosen = self.random.choice([one for one in pool if letter in (None, one.letter)])
        return self.chosen.name

    def any(self, **more):
        return {"instance": self.instance()} | kinds.service(self.chosen.letter) | more

    def names(self):
        return [self.instance() for _ in range(self.random.randint(1, 3))]

    def user(self):
        user = f"{self.chosen.name}-u{self.random.randint(0, 2)}"
        self.chosen.users.begin(user)
        return user

    def sign_in(self, letter):
        self.instance(letter)
        method, params = kinds.sign_in(letter, self.user(), self.world, self.random.choice([5, 600]), self.world.vendor(self.chosen)) or (None, {})
        return {"instance": self.chosen.name} | params

    def key(self):
        return f"k{self.random.randint(0, 20)}"

    def value(self):
        return self.random.choice([None, 1.5, "ü" * 20, [], {"a": [1, {}]}, answers.MARK + LONG, LONG * 30])

    def since(self):
        return self.random.choice([{}, {}, {"since": self.world.cursor or "x"}])

    def waiting(self):
        return self.random.choice([{}, {"timeout": 0.2}, {"timeout": "3s"}, {"minTTL": 400}, {"minTTL": 1e6}])

    def endpoint(self):
        return {"address": f"{answers.MARK}-{self.random.random()}", "type": self.random.choice(["apns", "fcm", "other"])}


def reading(draw, letter):
    return {"instance": draw.instance(letter)}


def salesforce(draw, **more):
    return {"instance": draw.instance("f"), "service": draw.random.choice(["cases", "knowledge", "none"])} | more


# Reads, and what any number of callers may do to any instance.
SHARED = {
    "rpc.discover": lambda d: {}, "daemon.info": lambda d: {}, "daemon.health": lambda d: {},
    "daemon.metrics": lambda d: {},
    "instance.list": lambda d: d.random.choice([{}, {"limit": 2, "after": d.instance()}, {"kind": "zendesk.chat"}, {"state": "locked"}, {"counts": True}]),
    "instance.get": lambda d: {"instance": d.instance()}, "instance.currentUser": lambda d: d.any(),
    "session.open": lambda d: d.any(**d.waiting()),
    "token.get": lambda d: d.any(http=d.random.random() < 0.3, **d.waiting()),
    "token.refresh": lambda d: d.any(),
    "token.reject": lambda d: d.any(tokenId=d.world.token_id, status=401, code="no", description=LONG[:100]),
    "events.subscribe": lambda d: d.random.choice([{}, {"instances": d.names()}, {"types": ["tokenRefreshed"]}]) | d.since(),
    "events.unsubscribe": lambda d: {"subscription": f"s{d.random.randint(1, 9)}"},
    "events.resume": lambda d: {"subscription": f"s{d.random.randint(1, 9)}", "since": d.world.cursor or "x"},
    "events.list": lambda d: d.random.choice([{}, {"limit": 3}, {"instances": d.names(), "limit": 500}]) | d.since(),
    "delegate.attach": lambda d: {"instances": d.names(), "timeout": 1}, "delegate.detach": lambda d: {},
    "storage.get": lambda d: {"instance": d.instance(), "key": d.key()},
    "storage.list": lambda d: {"instance": d.instance(), "limit": d.random.randint(1, 1000)},
    "push.list": lambda d: {"instance": d.instance(), "limit": d.random.randint(1, 64)},
    "serviceChat.getAuthenticationSettings": lambda d: salesforce(d),
}
# What changes an instance, in any order, by many at once.
CHANGES = {
    "instance.create": lambda d: {
        "instance": d.instance(), "kind": d.chosen.kind, "settings": kinds.settings(d.chosen.letter, d.world.vendor(d.chosen)),
        "provider": {"command": [d.world.programs.provider], "timeout": 2}},
    "instance.update": lambda d: {"instance": d.instance(), "labels": {d.key(): d.random.choice([None, "1", LONG[:60]])}},
    "instance.delete": lambda d: {"instance": d.instance()} | d.random.choice([{}, {"logout": True}]),
    "storage.put": lambda d: {"instance": d.instance(), "key": d.key(), "value": d.value()},
    "storage.delete": lambda d: {"instance": d.instance(), "key": d.key()},
    "push.register": lambda d: d.any(endpoint=d.endpoint()),
    "push.unregister": lambda d: {"instance": d.instance(), "id": f"p-{d.random.random()}"},
    "messaging.logoutUser": lambda d: reading(d, "m") | d.random.choice([{}, {"localOnly": True}]),
    "support.setIdentity": lambda d: d.sign_in("s") | d.random.choice([{}, {"onChange": "refuse"}]),
    "serviceChat.registerForPushNotifications": lambda d: salesforce(d, endpoint=d.endpoint()),
    "messagingInApp.setPassthrough": lambda d: reading(d, "g") | {"accessToken": f"{answers.MARK}.{d.user()}.x"},
    "messagingInApp.revokeToken": lambda d: reading(d, "g") | d.random.choice([{}, {"localOnly": True}]),
    "messagingInApp.clearStorage": lambda d: reading(d, "g") | d.random.choice([{}, {"clearAuthorization": False}]),
    "messagingInApp.setHiddenPreChat": lambda d: reading(d, "g") | {"fields": d.random.choice([None, {"a": "b"}])},
    "messagingInApp.setLastEventId": lambda d: reading(d, "g") | {"lastEventId": str(d.random.randint(0, 99)), "storageEpoch": "0-0"},
    "chatCenter.authorize": lambda d: d.sign_in("e") | {"wait": d.random.random() < 0.5},
    "chatCenter.logout": lambda d: reading(d, "e") | {"wait": d.random.random() < 0.5},
    "chatCenter.prefill": lambda d: reading(d, "e") | {"message": d.random.choice(["", "hello"])},
    "chatCenter.updateData": lambda d: reading(d, "e") | {"data": d.random.choice([None, {"a": "b"}])},
}
# What one actor does in its own way: see `admin.py`.
ADMIN = {"daemon.reload", "daemon.setLogLevel", "daemon.backup", "daemon.rotateKey"}


def of_kind_method(method):
    """Draws params for a method of a kind that has no place above: those of a sign-in, or those of its example."""
    name, letter = method["name"], facts.letter_of(method["x-sdkd"]["kind"])
    if name == facts.ALL[letter]["sandbox"]["sign_in"]["method"]:
        return lambda draw: draw.sign_in(letter)
    params = {one["name"]: one["value"] for one in method["examples"][0]["params"] if one["name"] != "instance"}
    return lambda draw: reading(draw, letter) | params


def places():
    """Returns the names of the methods that have a place."""
    return set(SHARED) | set(CHANGES) | ADMIN


def check(contract):
    """Gives each method of a kind a place, and returns what is missing here, or there."""
    for method in contract["methods"]:
        if "kind" in method["x-sdkd"] and method["name"] not in places():
            place = CHANGES if method["x-sdkd"]["ordering"].startswith("write") else SHARED
            place[method["name"]] = of_kind_method(method)
    return {method["name"] for method in contract["methods"]} ^ places()
