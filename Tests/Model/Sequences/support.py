"""The vendor's side of `zendesk.support`, as far as the sequences need it."""
import json

from backend import Backend, person

ROUTES = ["exchange", "exchange", "push", "settings"]
IN, OUT = set(), set()
STEPS = ["ask_in", "ask_in"]


class Vendor(Backend):
    def refusal(self, route, status):
        return status, {"error": "Couldn't authenticate you" if status == 401 else "Try later"}

    def request(self, method, path, headers, body):
        what, token = json.loads(body or b"{}"), self.bearer(headers)
        given = what.get("user", {}).get("token", "")
        entry = {"token": token or given, "user": person(token or given)}

        def exchange():
            self.check(given)
            identifier = 360_000 + sum(entry["user"].encode())
            return 200, {"authentication": {"access_token": self.new("zs_", entry["user"]), "user_id": identifier}}

        def resource():
            self.check(token)
            if method == "POST":
                return 201, {"push_notification_device": {"id": next(self.numbers)}}
            return (204, None) if method == "DELETE" else (200, {"user": {"name": entry["user"]}})

        if path[-1] == "jwt":
            return "exchange", entry, exchange
        if "settings" in path:
            settings = {"identifier": path[-1][:-5], "authentication": "jwt"}
            return "settings", entry, lambda: (200, settings | {"core": settings})
        return "push" if any("push" in part for part in path) else "user", entry, resource
