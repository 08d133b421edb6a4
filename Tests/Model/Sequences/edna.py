"""The vendor's side of `edna.chatcenter`, as far as the sequences need it."""
from backend import Backend

ROUTES = ["config", "history", "history", "registerDevice", "INIT_CHAT", "CLIENT_INFO", "CLIENT_OFFLINE"]
IN, OUT = {"CLIENT_INFO"}, {"CLIENT_OFFLINE"}
LEAVING = ["CLIENT_OFFLINE"]
SETTINGS = [{"on_switch": "logout"}, {"retry_logout": True}, {"on_switch": "logout", "retry_logout": True}]
STEPS = ["deauthorize", "update_data", "update_data", "prefill", "chat", "chat", "chat"]


class Vendor(Backend):
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
        entry["user"] = session.get("user")

        def act():
            self.check(entry["token"])
            self.issued.append(entry["token"])
            if route in ("registerDevice", "updateDevice"):
                return 200, {"deviceAddress": "device-" + entry["user"]}
            return 200, {"messageId": str(next(self.numbers)), "sentAt": "2026-01-01T00:00:00Z", "status": "sent"}

        return route, entry, act
