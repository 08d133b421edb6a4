"""Small records of sequences, for the tests of the rules."""
import os, sys

SEQUENCES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [SEQUENCES, os.path.dirname(SEQUENCES)]


class Sample:
    """A record that grows by one call, event or request after the other. Times are in seconds."""

    def __init__(self, kind):
        self.record = {
            "kind": kind, "calls": [], "events": [], "vendor": [], "questions": [], "problems": [], "steps": [],
            "created": {"storageEpoch": "e0"}, "lives": [{"began": 0, "ended": None, "how": None, "status": None}]}

    def call(self, line, method, sent, answered, params=None, result=None, reason=None, **more):
        """A call; with `reason` it has failed, and with `answered=None` it has no answer."""
        error = {"code": 0, "data": {"reason": reason}} if reason else None
        if error or answered is None:
            result = None
        elif result is None:
            result = {}
        self.record["calls"].append(more | {
            "n": len(self.record["calls"]), "line": line, "method": method, "params": params or {}, "sent": sent,
            "answered": answered, "result": result, "error": error})
        return self

    def sign_in(self, line, user, sent, answered, result=None, reason=None, credential=None, method="messaging.loginUser",
                **params):
        credential = credential or f"credential of {user}"
        return self.call(line, method, sent, answered, params, result, reason, user=user, credential=credential)

    def authorize(self, line, user, sent, operation):
        accepted = {"accepted": True, "operation": operation}
        return self.sign_in(line, user, sent, sent + 0.01, accepted, method="chatCenter.authorize")

    def sign_out(self, line, sent, answered, method="messaging.logoutUser", **more):
        return self.call(line, method, sent, answered, user=None, **more)

    def event(self, at, type, user=None, operation=None, service=None, **data):
        event = {"cursor": f"c{len(self.record['events'])}", "type": type, "at": at, "data": data}
        if user:
            event["data"]["user"] = {"externalId": user}
        more = {"operation": operation, "service": service}
        self.record["events"].append(event | {name: value for name, value in more.items() if value})
        return self

    def request(self, route, user, arrived, acted, answered=None, fault=None, **more):
        self.record["vendor"].append({"token": None} | more | {
            "route": route, "user": user, "arrived": arrived, "acted": acted, "fault": fault,
            "answered": acted if answered is None else answered, "status": None if fault else 200})
        return self

    def question(self, question, opened, closed, supplied=None, denied=False, service=None, way="error"):
        self.record["questions"].append({
            "question": question, "service": service, "opened": opened, "closed": closed, "end": "answered", "way": way,
            "supplied": supplied, "denied": denied})
        return self

    def state(self, user, epoch="e0", **more):
        """How the instance is at the end; `more` is what differs after the restart."""
        service = "cases" if self.record["kind"] == "f" else ""
        self.record["before"] = {
            "at": 50, "instance": {"state": "authenticated" if user else "loggedOut"}, "storage": {}, "epoch": epoch,
            "pushes": [], "users": {service: {"externalId": user} if user else {}},
            "events": [dict(event) for event in self.record["events"]]}
        self.record["after"] = self.record["before"] | more
        return self
