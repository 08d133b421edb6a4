"""A record, as the rules read it: who asked for which change of the identity, in which order, and what became of it."""
import base64, json, re

from answers import MARK
from kinds import owner

PEOPLE = ("alice", "bob", "carol")
NUMBERS = {str(360_000 + sum(user.encode())): user for user in PEOPLE}
TERMINAL = {"userLoggedIn", "userLoggedOut", "loginSuperseded", "logoutFailed", "authenticationFailed", "networkError"}
SESSION = {"session.open", "chatCenter.getChat"}


def people_in(value):
    """The people whom a text of the daemon names: by name, by an id, in a token or in a header."""
    text = json.dumps(value)
    found = set(re.findall(rf"(?:\b|id-|005)({'|'.join(PEOPLE)})\b", text))
    found |= {owner(token) for token in re.findall(r"eyJ[\w-]+\.[\w-]+\.[\w-]+", text)}
    for encoded in re.findall(r"Basic ([\w+/=]+)", text):
        found |= people_in(base64.b64decode(encoded).decode(errors="replace"))
    found |= {user for number, user in NUMBERS.items() if re.search(rf"\b{number}\b", text)}
    return found & set(PEOPLE)


def user_of(user):
    """The person of a `User`."""
    return min(people_in([(user or {}).get("id"), (user or {}).get("externalId")]), default=None)


def users_in(value):
    """All objects below a value that look like a `User`."""
    if isinstance(value, dict):
        if "authenticationType" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from users_in(part)


class History:
    def __init__(self, record):
        self.record, self.kind = record, record["kind"]
        self.calls = [call for call in record["calls"] if not call.get("own")]
        self.vendor, self.questions, self.lives = record["vendor"], record["questions"], record["lives"]
        self.before, self.after = record.get("before"), record.get("after")
        self.events = (self.after or {}).get("events") or record["events"]
        heard = {event["cursor"]: event["at"] for event in record["events"]}
        self.heard = {event["cursor"]: heard.get(event["cursor"], float("inf")) for event in self.events}
        self.digests = self.learn()
        self.changes = [self.change(call) for call in self.calls if "user" in call]
        self.changes += [self.supplied(question) for question in self.questions if question["supplied"]]

    # People

    def learn(self):
        """Who is behind the digests that events have in place of the identifiers of edna, which are secrets."""
        if self.kind != "e":
            return {}
        owners = {call["result"]["operation"]: call.get("user") for call in self.calls if (call["result"] or {}).get("operation")}
        since = {user["since"]: user_of(user) for user in users_in(self.record) if user_of(user) and user.get("since")}
        users = [(event, event["data"]["user"]) for event in self.events if event["type"] in ("userLoggedIn", "userLoggedOut")]
        known = {user.get("externalId"): since.get(user.get("since")) for _, user in users if since.get(user.get("since"))}
        return known | {user.get("externalId"): owners[event["operation"]] for event, user in users
                        if event["type"] == "userLoggedIn" and owners.get(event.get("operation"))}

    def person(self, user):
        """The person of a `User` in an event; a digest where nobody knows whose it is."""
        return user_of(user) or self.digests.get(user.get("externalId")) or user.get("externalId")

    # Changes of the identity

    def change(self, call):
        """`success` is `None` where nobody knows. `ended` is when the outcome was known."""
        change = {"user": call["user"], "service": call["params"].get("service"), "sent": call["sent"], "call": call,
                  "credential": call.get("credential"), "success": None, "ended": call["answered"], "method": call["method"]}
        if call["error"]:
            change["success"] = False
        elif call["result"] is not None and "operation" in call["result"]:
            outcomes = self.outcomes(call["result"]["operation"], call["user"] is not None)
            change["ended"] = self.heard[outcomes[0]["cursor"]] if outcomes else None
            if outcomes:
                change["success"] = outcomes[0]["type"] == ("userLoggedOut" if call["user"] is None else "userLoggedIn")
        elif call["result"] is not None:
            change["success"] = True
        return change

    def supplied(self, question):
        """A person whom the bridge supplied may become the user."""
        return {"user": question["supplied"], "service": question["service"], "sent": question["opened"], "call": None,
                "credential": None, "success": None, "ended": None, "method": "bridge"}

    def outcomes(self, operation, is_sign_in):
        """The terminal events of an operation.

        The end of the user whom an authorize replaces has the same operation, and is not its outcome.
        """
        return [event for event in self.events if event.get("operation") == operation and event["type"] in TERMINAL
                and not (is_sign_in and event["type"] == "userLoggedOut" and event["data"].get("cause") == "switch")]

    # Order

    def precedes(self, first, second):
        """Whether the daemon certainly took the first call before the second."""
        if not first or not second:
            return False
        if first["line"] == second["line"]:
            return first["n"] < second["n"]
        if first["answered"] is not None and first["answered"] < second["sent"]:
            return True
        return any(first["sent"] < life["began"] <= second["sent"] for life in self.lives)

    def is_before(self, change, call):
        """Whether a change was applied before the daemon looked at a later call."""
        own, ended = change["call"], change["ended"]
        # A logout that is only accepted may still fail, and changes nothing until then.
        is_accepted = own and own["user"] is None and "operation" in (own["result"] or {})
        if own and not is_accepted and own["line"] == call["line"] and own["n"] < call["n"]:
            return True
        return ended is not None and ended < call["sent"]

    def ends(self, change, user, call):
        """Whether a change means for a call that this user is gone."""
        if change["user"] == user or change["credential"] == "bridge" or not change["call"]:
            return False
        if self.kind == "f" and change["service"] != call["params"].get("service"):
            return False
        if change["success"]:
            return self.is_before(change, call)
        # Calls after an accepted authorize wait for its end on the same connection, and touch nothing if it fails.
        own = change["call"]
        return (change["method"] == "chatCenter.authorize" and own["result"] is not None and own["line"] == call["line"]
                and own["n"] < call["n"] and change["ended"] is not None and call["sent"] < change["ended"])

    def may_be(self, user, call):
        """Whether this user may have been the current one for a call."""
        for change in self.changes:
            if change["user"] != user or change["sent"] > call["answered"] or change["success"] is False:
                continue
            later = [other for other in self.changes if self.precedes(change["call"], other["call"])]
            if not any(self.ends(other, user, call) for other in later):
                return True
        return False

    # Times

    def was_killed(self, since, until):
        """Whether the daemon was killed in that time; `None` for no end."""
        ends = [life["ended"] for life in self.lives if life["how"] == "kill"]
        return any(since <= end and (until is None or end <= until) for end in ends)

    def told(self, service=None):
        """Who the events say came and went, in order."""
        return [event for event in self.events if event["type"] in ("userLoggedIn", "userLoggedOut")
                and (self.kind != "f" or event.get("service") == service)]

    def user_at(self, state, service=""):
        """The person who is in, and the state's name, by a snapshot."""
        user = state["users"].get(service or ("cases" if self.kind == "f" else "")) or {}
        return user_of(user), state["instance"].get("state")
