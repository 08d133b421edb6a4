"""Rules 3, 5, 7 and 9: what events say, and the state that they lead to."""
from history import PEOPLE
from vendors import KEEPS_ANONYMOUS

IN = {"authenticated", "refreshing", "reauthNeeded", "locked"}


def outcomes(history):
    """3: each operation has one outcome, and events about users are in order."""
    for call in history.calls:
        operation = (call["result"] or {}).get("operation")
        if not operation:
            continue
        ends = [event["type"] for event in history.outcomes(operation, call["user"] is not None)]
        # The last stop comes when all has come to rest.
        was_stopped = any(life["ended"] and life["ended"] >= call["sent"] for life in history.lives[:-2])
        if len(ends) > 1 or (not ends and not was_stopped):
            yield f"the operation of call {call['n']} ({call['method']}) has the outcomes {ends}"
    for event in history.events:
        if event["type"] == "authenticationFailed" and event["data"].get("reason") == "superseded":
            yield "an app's own later call is reported as authenticationFailed"
    for service in ("cases", "knowledge") if history.kind == "f" else (None,):
        yield from comings(history, service)


def comings(history, service):
    present, must_wipe = None, False
    for event in history.events:
        user = event["data"].get("user") or {}
        name = history.person(user) or user.get("id")
        if event["type"] == "identityWiped":
            must_wipe = False
        if history.kind == "f" and event.get("service") != service:
            continue
        if event["type"] in ("userLoggedIn", "anonymousUserCreated"):
            if must_wipe or (present and present != name and not is_kept(history, present)):
                if event["type"] == "userLoggedIn":
                    yield f"userLoggedIn of {name} without identityWiped after {present or 'the former user'}"
            present, must_wipe = name or "somebody", False
        elif event["type"] == "userLoggedOut":
            if present is None and history.kind == "c" and not name:
                # A visitor of Chat is nobody until the first session.
                pass
            elif present is None:
                yield f"userLoggedOut of {name}, who was not reported in"
            elif name and present not in (name, "somebody"):
                yield f"userLoggedOut of {name} while {present} is in"
            # Services share the storage, which ends with another user of any of them.
            present, must_wipe = None, history.kind != "f"
        elif event["type"] == "identityWiped" and present:
            present = None


def is_kept(history, present):
    """Whether the present user is an anonymous one of whom a sign-in wipes nothing."""
    return history.kind in KEEPS_ANONYMOUS and present not in PEOPLE


def followed(history):
    """5: a subscriber receives what `events.list` has, and the events lead to the state."""
    if not history.after:
        return
    heard = [event["cursor"] for event in history.record["events"]]
    listed = [event["cursor"] for event in history.after["events"]]
    if heard[:len(listed)] != listed[:len(heard)] or len(heard) < len(listed):
        yield f"a subscriber received {len(heard)} events, which differ from the {len(listed)} of events.list"
    for name, state in (("before", history.before), ("after", history.after)):
        yield from agrees(history, name, state)


def agrees(history, name, state):
    known = {event["cursor"] for event in state["events"]}
    for service in state["users"]:
        told = [event for event in history.told(service) if event["cursor"] in known]
        present, phase = history.user_at(state, service)
        last = history.person(told[-1]["data"]["user"]) if told and told[-1]["type"] == "userLoggedIn" else None
        # The users of Chat are known to the vendor from the first session on.
        if present != last and not (history.kind == "c" and last is None):
            yield f"{name} the restart {present} is the user ({phase}), but the events say {last}"


def restarted(history):
    """7: a restart changes nothing."""
    if not history.after:
        return
    for name in ("storage", "epoch"):
        if history.before[name] != history.after[name]:
            yield f"a restart changes {name} from {history.before[name]} to {history.after[name]}"
    for service in history.before["users"]:
        first, second = (history.user_at(state, service)[0] for state in (history.before, history.after))
        if first != second:
            yield f"a restart changes the user from {first} to {second}"
    first, second = ([push["id"] for push in state["pushes"] or []] for state in (history.before, history.after))
    if first != second:
        yield f"a restart changes the push records from {first} to {second}"
    was, is_now = (state["instance"].get("state") for state in (history.before, history.after))
    if (was in IN) != (is_now in IN):
        yield f"a restart changes the state from {was} to {is_now}"


def failing_bridge(history):
    """9: a bridge that only fails signs no user out."""
    for event in history.events:
        if event["type"] != "userLoggedOut" or event["data"].get("cause") not in ("guest", "implicit"):
            continue
        at = history.heard[event["cursor"]]
        asked = [question for question in history.questions if question["opened"] < at]
        if asked and not any(question["supplied"] or question["denied"] for question in asked):
            ends = ", ".join(f"{question['question']} {question['way']}" for question in asked)
            user, cause = history.person(event["data"]["user"]), event["data"]["cause"]
            yield f"{user} is signed out ({cause}) by a bridge that only failed: {ends}"
