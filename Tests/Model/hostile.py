"""Vendors and token providers that fail."""
import facts
from actors import Actor
from answers import ENDS, LIES
from outside import LISTED

ROUTES = [
    "POST /v2/apps/*/login", "POST /v2/apps/*/appusers/*/logout", "/zm/**", "/access/sdk/jwt", "/zs/**", "/services/oauth2/token",
    "/services/oauth2/revoke", "/sf/**", "/authenticated/web/jwt", "/api/chat/config", "/ed/**", "WS /ed/ws registerDevice",
    "WS /ed/ws CLIENT_OFFLINE", "WS /zm/faye /meta/subscribe", "/zm/faye"]
ROUTES += sorted({
    route for kind in facts.ALL.values()
    for route in (f"/{kind['sandbox']['prefix']}/**", kind["sandbox"].get("exchange")) if route} - set(ROUTES))
# The vendors whose tokens are revoked.
REVOKED = [kind["sandbox"]["prefix"] for kind in facts.ALL.values() if kind["model"].get("revokes", True)]
WAYS = [
    {"status": 401}, {"status": 403}, {"status": 429, "headers": {"Retry-After": "1"}}, {"status": 500}, {"status": 503, "body": "x"},
    {"hang": True}, {"closeMidBody": True}, {"passThrough": True, "closeMidBody": True}, {"passThrough": True, "hang": True},
    {"passThrough": True, "delayMs": 400}, {"body": "{"}, {"body": "", "status": 200}, {"status": 401, "body": {"error": {"code": 7}}},
    {"body": [[[[]]]]}, {"status": 302, "headers": {"Location": "http://127.0.0.1:1/"}}, {"contentType": "text/html", "body": "<html>"},
    {"body": {"error": "invalid_grant"}, "status": 400}]
FRAMES = [{"drop": True}, {"close": True}, {"close": 1011}, {"delayMs": 300}, {"reply": {"x": 1}}]
# How a vendor writes a secret that it repeats: see `places.py`.
FORMS = ["plain", "json", "twice", "percent", "form", "base64", "basic", "lower", "piece"]


class HostileVendors(Actor):
    pace = 0.15

    def step(self):
        world, random = self.world, self.random
        if random.random() < 0.35:
            world.sandbox.ask("DELETE", "/_control")
            return
        if random.random() < 0.2:
            user = f"{random.choice(world.instances).name}-u{random.randint(0, 3)}"
            world.sandbox.ask("POST", "/_revoke", {"sdk": random.choice(REVOKED), "externalId": user})
            return
        if random.random() < 0.15:
            world.sandbox.ask("POST", "/_close", {})
            world.sandbox.ask("POST", "/_unauthorized", {"details": random.choice(["expired", "invalid"])})
            return
        route = random.choice(ROUTES)
        way = random.choice(FRAMES if route.startswith("WS") else WAYS)
        world.record(self.name, f"{route} {way}")
        world.sandbox.ask("POST", "/_control", {"route": route, "times": random.choice([1, 1, 2, 5])} | way)


class HostileProviders(Actor):
    pace = 0.1

    def step(self):
        instance = self.random.choice(self.world.instances).name
        ways = ["good"] * 10 + ["slow"] * 3 + LIES + ENDS + (["denied"] if self.random.random() < 0.2 else [])
        behaviour = self.random.choice(ways)
        self.world.record(self.name, f"{instance} {behaviour}")
        self.write("behaviour-" + instance, behaviour)

    def end(self):
        for instance in self.world.instances:
            self.write("behaviour-" + instance.name, "good")


class HostilePlaces(Actor):
    """Vendors behind the places: they repeat the secrets of requests, and supply URLs of other places."""
    pace = 0.08

    def step(self):
        random, outside = self.random, self.world.outside
        way = random.choice(["echo"] * 4 + ["frame", "close"] + ["lead"] * 5 + ["none"])
        more = {
            "status": random.choice([400, 401, 403, 409, 422, 429, 500, 503]), "at": random.choice(["body"] * 4 + ["headers", "location"]),
            "form": random.choice(FORMS), "shape": random.randint(0, 5),
            "to": random.choice(outside.strays if random.random() < 0.6 else LISTED)}
        self.world.record(self.name, f"{way} {more}")
        outside.fail_next(way=way, **more)
