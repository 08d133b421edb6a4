"""The vendor's side of `zendesk.messaging`, as far as the sequences need it."""
from backend import Backend, person

ROUTES = ["login", "login", "logout", "user", "push", "anonymous"]
IN, OUT = {"login"}, {"logout"}
LEAVING = ["logout"]
SETTINGS = [{"anonymous": "never"}]
# The vendor merges an anonymous user into the one who signs in.
KEEPS_ANONYMOUS = True
STEPS = ["sign_out local"]


class Vendor(Backend):
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
