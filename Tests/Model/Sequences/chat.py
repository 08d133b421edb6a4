"""The vendor's side of `zendesk.chat`, as far as the sequences need it."""
import urllib.parse

from backend import Backend, person

ROUTES = ["exchange"]
IN, OUT = set(), set()
# An anonymous visitor is `User.none`.
KEEPS_ANONYMOUS = True


class Vendor(Backend):
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
