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
        result = None if error or answered is None else result if result is not None else {}
        self.record["calls"].append(more | {
            "n": len(self.record["calls"]), "line": line, "method": method, "params": params or {}, "sent": sent, "answered": answered,
            "result": result, "error": error})
        return self

    def sign_in(self, line, user, sent, answered, result=None, reason=None, credential=None, method="messaging.loginUser", **params):
        return self.call(line, method, sent, answered, params, result, reason, user=user, credential=credential or f"credential of {user}")

    def authorize(self, line, user, sent, operation):
        return self.sign_in(line, user, sent, sent + 0.01, {"accepted": True, "operation": operation}, method="chatCenter.authorize")

    def sign_out(self, line, sent, answered, method="messaging.logoutUser", **more):
        return self.call(line, method, sent, answered, user=None, **more)

    def event(self, at, type, user=None, operation=None, service=None, **data):
        event = {"cursor": f"c{len(self.record['events'])}", "type": type, "at": at, "data": data | ({"user": {"externalId": user}} if user else {})}
        self.record["events"].append(event | ({"operation": operation} if operation else {}) | ({"service": service} if service else {}))
        return self

    def request(self, route, user, arrived, acted, answered=None, fault=None, **more):
        self.record["vendor"].append({"token": None} | more | {
            "route": route, "user": user, "arrived": arrived, "acted": acted, "answered": answered if answered is not None else acted,
            "fault": fault, "status": None if fault else 200})
        return self

    def question(self, question, opened, closed, supplied=None, denied=False, service=None, way="error"):
        self.record["questions"].append({
            "question": question, "service": service, "opened": opened, "closed": closed, "end": "answered", "way": way,
            "supplied": supplied, "denied": denied})
        return self

    def state(self, user, epoch="e0", **more):
        """How the instance is at the end, before and after the restart."""
        service = "cases" if self.record["kind"] == "f" else ""
        state = {"at": 50, "instance": {"state": "authenticated" if user else "loggedOut"}, "storage": {}, "epoch": epoch, "pushes": [],
                 "users": {service: {"externalId": user} if user else {}}, "events": [dict(event) for event in self.record["events"]]}
        self.record["before"], self.record["after"] = state, state | more
        return self
