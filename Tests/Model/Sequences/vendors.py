"""The vendors' sides of the kinds of Zendesk, as far as the sequences need them, and the table of all kinds."""
import json, urllib.parse

from backend import Backend, person
from edna import Edna
from inapp import InApp
from salesforce import Salesforce


class Messaging(Backend):
    def refusal(self, route, status):
        code = "invalid_auth" if status == 401 else "internal_error"
        return status, {"error": {"code": code, "description": "Invalid JWT" if status == 401 else "Try later"}}

    def answer(self, user, **more):
        return 200, {
            "settings": {"realtime": {"enabled": False}, "profile": {"enabled": True, "uploadInterval": 60}},
            "appUser": {"_id": "id-" + user} | ({} if user.startswith("anon") else {"userId": user}), "conversations": []} | more

    def request(self, method, path, headers, body):
        token = self.bearer(headers)
        entry = {"token": token, "user": person(token), "client": headers.get("x-smooch-clientid")}

        def login():
            self.check(token)
            self.issued.append(token)
            return self.answer(entry["user"])

        def anonymous():
            entry["user"] = f"anon{next(self.numbers)}"
            return self.answer(entry["user"], sessionToken=f"session-{entry['user']}")

        def resource():
            if not token.startswith("Basic "):
                self.check(token)
            return self.answer(path[5].removeprefix("id-")) if method == "GET" else (200, {})

        if path[4:] == ["login"]:
            return "login", entry, login
        if len(path) == 5:
            return "anonymous", entry, anonymous
        names = {"logout": "logout", "clients": "push"}
        return names.get(path[6] if len(path) > 6 else "", "user"), entry | {"user": path[5].removeprefix("id-")}, resource


class Support(Backend):
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


class Chat(Backend):
    def refusal(self, route, status):
        return 400 if status == 401 else status, {
            "success": False, "error": "token not found" if status == 401 else "internal server error"}

    def request(self, method, path, headers, body):
        token = dict(urllib.parse.parse_qsl(body.decode())).get("token", "")
        entry = {"token": token, "user": person(token)}

        def exchange():
            self.check(token)
            id_token = self.new("zct_", entry["user"])
            return 200, {"success": True, "id_token": id_token, "state": f"state{next(self.numbers)}", "expires_in": 600}

        return "exchange", entry, exchange


BACKENDS = {"m": Messaging, "s": Support, "f": Salesforce, "c": Chat, "e": Edna, "g": InApp}
