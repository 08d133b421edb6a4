"""The vendors' side of the five kinds, as far as the sequences need it. Each token names its user."""
import itertools, json, urllib.parse

from answers import MARK
from kinds import claims
from loopback import Refused

DEVICE = "MobilePushServiceDevice"


def person(token):
    """The user whom a credential of the driver or of a vendor names; `None` for another text."""
    if not isinstance(token, str):
        return None
    if token.startswith("eyJ"):
        return claims(token).get("external_id")
    head, mark, rest = token.partition(MARK + ".")
    if mark:
        return rest.split(".")[0]
    return token.split(":")[0] if f":{MARK}" in token else None


class Backend:
    """What all five share: revoked credentials, and numbers for new ones."""

    def __init__(self):
        self.revoked, self.numbers, self.devices, self.issued = set(), itertools.count(1), {}, []

    def new(self, begin, user):
        token = f"{begin}{MARK}.{user}.{next(self.numbers)}"
        self.issued.append(token)
        return token

    def check(self, token):
        if token in self.revoked or person(token) is None:
            raise Refused(*self.refusal("", 401))

    def revoke(self):
        """The vendor refuses from now on whatever it has issued or accepted."""
        self.revoked |= set(self.issued)

    def bearer(self, headers):
        return headers.get("authorization", "").removeprefix("Bearer ")


class Messaging(Backend):
    def refusal(self, route, status):
        code = "invalid_auth" if status == 401 else "internal_error"
        return status, {"error": {"code": code, "description": "Invalid JWT" if status == 401 else "Try later"}}

    def answer(self, user, **more):
        return 200, {
            "settings": {"realtime": {"enabled": False}, "profile": {"enabled": True, "uploadInterval": 60}},
            "appUser": {"_id": "id-" + user} | ({} if user.startswith("anon") else {"userId": user}), "conversations": []} | more

    def request(self, method, path, headers, body):
        token, what = self.bearer(headers), json.loads(body or b"{}")
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
        return names.get(path[6] if len(path) > 6 else "", "user"), entry | {"user": path[5].removeprefix("id-"), "body": what}, resource


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


class Salesforce(Backend):
    """A grant has one refresh token at a time, which rotates, and many access tokens."""

    def __init__(self):
        super().__init__()
        self.grants, self.of, self.base = {}, {}, ""

    def grant(self, user):
        """The members of a new account, as a person's approval gives them."""
        name = f"g{next(self.numbers)}"
        self.grants[name] = {"user": user, "refresh": None}
        return self.tokens(name)

    def tokens(self, name):
        grant = self.grants[name]
        access, grant["refresh"] = self.new("00D!AQ", grant["user"]), self.new("5Aep861", grant["user"])
        self.of[access] = self.of[grant["refresh"]] = name
        return {"access_token": access, "refresh_token": grant["refresh"], "instance_url": self.base, "token_type": "Bearer",
                "id": f"{self.base}/id/00D000000000001AAA/005{grant['user']}"}

    def refusal(self, route, status):
        if route in ("refresh", "revocation"):
            return (400, {"error": "invalid_grant", "error_description": "expired"}) if status == 401 else (
                status, {"error": "unknown_error", "error_description": "retry"})
        return status, [{"errorCode": "INVALID_SESSION_ID" if status == 401 else "UNKNOWN_EXCEPTION", "message": "no"}]

    def request(self, method, path, headers, body):
        is_form = "form" in headers.get("content-type", "")
        form = dict(urllib.parse.parse_qsl(body.decode())) if is_form else {}
        token = form.get("refresh_token") or form.get("token") or self.bearer(headers)
        entry = {"token": token, "user": person(token), "grant": self.of.get(token)}

        def refresh():
            if token in self.revoked or self.grants.get(entry["grant"], {}).get("refresh") != token:
                raise Refused(*self.refusal("refresh", 401))
            return 200, self.tokens(entry["grant"])

        def revocation():
            whole = self.grants.get(entry["grant"], {}).get("refresh") == token
            self.revoked |= {each for each, name in self.of.items() if name == entry["grant"]} if whole else {token}
            return 200, None

        def resource():
            self.check(token)
            if DEVICE in path:
                return (204, None) if method == "DELETE" else (201, {"id": f"0Mp{next(self.numbers)}", "success": True, "errors": []})
            user = "005" + entry["user"]
            return 200, {"user_id": user, "organization_id": "00D000000000001AAA", "name": entry["user"], "sub": f"{self.base}/id/00D/{user}"}

        if path[-1] == "token":
            return "refresh", entry, refresh
        if path[-1] == "revoke":
            return "revocation", entry, revocation
        return "push" if DEVICE in path else "user", entry, resource


class Chat(Backend):
    def refusal(self, route, status):
        return 400 if status == 401 else status, {
            "success": False, "error": "token not found" if status == 401 else "internal server error"}

    def request(self, method, path, headers, body):
        token = dict(urllib.parse.parse_qsl(body.decode())).get("token", "")
        entry = {"token": token, "user": person(token)}

        def exchange():
            self.check(token)
            return 200, {"success": True, "id_token": self.new("zct_", entry["user"]), "state": f"state{next(self.numbers)}", "expires_in": 600}

        return "exchange", entry, exchange


class Edna(Backend):
    def refusal(self, route, status):
        code = "UNAUTHORIZED" if status == 401 else "ERROR"
        return status, {"error": code, "errorDetails": "invalid" if status == 401 else "later"}

    def entry(self, headers):
        token = headers.get("authorization", "")
        return {"token": token, "user": headers.get("x-ext-client-id")}

    def request(self, method, path, headers, body):
        entry = self.entry(headers)

        def act():
            self.check(entry["token"])
            if path[-1] == "config":
                return 200, {"settings": {"pingEnabled": False}}
            return 200, {"messages": [], "allowedToSendMessages": True}

        return path[-1], entry, act

    def message(self, session, message):
        data, entry = message.get("data", {}), self.entry(session["headers"])
        content = data.get("content", {})
        route = content.get("type") or message.get("action")
        if route == "registerDevice":
            session["user"] = data.get("clientId")
        entry |= {"user": session.get("user"), "socket": id(session), "data": content.get("data"), "push": data.get("pnsPushAddress")}

        def act():
            self.check(entry["token"])
            self.issued.append(entry["token"])
            if route in ("registerDevice", "updateDevice"):
                return 200, {"deviceAddress": "device-" + entry["user"]}
            return 200, {"messageId": str(next(self.numbers)), "sentAt": "2026-01-01T00:00:00Z", "status": "sent"}

        return route, entry, act


BACKENDS = {"m": Messaging, "s": Support, "f": Salesforce, "c": Chat, "e": Edna}
