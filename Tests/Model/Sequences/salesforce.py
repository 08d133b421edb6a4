"""The vendor's side of `salesforce.chat`, as far as the sequences need it."""
import urllib.parse

from backend import Backend, person
from loopback import Refused

DEVICE = "MobilePushServiceDevice"
ROUTES = ["refresh", "revocation", "revocation", "user", "push"]
IN, OUT = set(), {"revocation"}
LEAVING = ["revocation"]
STEPS = ["push", "push", "push"]


class Vendor(Backend):
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
                if method == "DELETE":
                    return 204, None
                return 201, {"id": f"0Mp{next(self.numbers)}", "success": True, "errors": []}
            user = "005" + entry["user"]
            return 200, {"user_id": user, "organization_id": "00D000000000001AAA", "name": entry["user"]}

        if path[-1] == "token":
            return "refresh", entry, refresh
        if path[-1] == "revoke":
            return "revocation", entry, revocation
        return "push" if DEVICE in path else "user", entry, resource
