"""Rules 4 and 8: the requests that the vendor got, and their order."""
from vendors import IN, OUT

TIMEOUT = 2


def presence(history):
    """4: the vendor and the daemon agree on who is signed in."""
    if IN[history.kind] and history.before:
        for user in {entry["user"] for entry in history.vendor if entry["route"] in IN[history.kind]} - {None}:
            yield from of_user(history, user)
    if OUT[history.kind]:
        yield from unasked(history)
    if history.kind == "f":
        yield from revoked(history)


def of_user(history, user):
    sent = [entry for entry in history.vendor if entry["user"] == user and entry["arrived"] < history.before["at"]
            and entry["route"] in IN[history.kind] | OUT[history.kind]]
    acted = sorted((entry for entry in sent if entry["acted"] is not None), key=lambda entry: entry["acted"])
    if not acted:
        return
    last, present = acted[-1], history.user_at(history.before)[0]
    if last["route"] in OUT[history.kind] and present == user:
        # A logout whose answer was lost is none for the daemon.
        if not last["fault"]:
            yield f"{user} is signed out at the vendor since {last['acted']:.2f} s, and signed in at the daemon"
    elif last["route"] in IN[history.kind] and present != user and not is_excused(history, user, sent):
        yield f"{user} is signed in at the vendor since {last['acted']:.2f} s, and the daemon's user is {present}"


def is_excused(history, user, sent):
    """Whether the daemon can't know that the user is signed in at the vendor, can't end it, or must not."""
    if any(entry["fault"] for entry in sent) or any(life["how"] == "kill" for life in history.lives):
        return True
    was_refused = any(step["do"] in ("revoke", "reject") for step in history.record["steps"])
    if history.before["instance"].get("pending") or was_refused:
        return True
    told = [event for event in history.told() if history.person(event["data"]["user"]) == user]
    cause = told[-1]["data"].get("cause") if told else None
    if history.kind == "e":
        left = any(change["method"] == "chatCenter.deauthorizeUser" for change in history.changes)
        faulty = any(entry["fault"] for entry in history.vendor if entry["route"] == "registerDevice")
        return cause in ("switch", "deauthorized", "implicit") or left or faulty
    is_local = any(call["params"].get("localOnly") or (call["result"] or {}).get("backendInformed") is False
                   for call in history.calls)
    return is_local or cause == "implicit"


def unasked(history):
    """Logouts that reach the vendor after a sign-in of the same user, without a later reason."""
    for out in history.vendor:
        if out["route"] not in OUT[history.kind] or out["acted"] is None:
            continue
        for change in history.changes:
            if not change["call"] or not change["success"]:
                continue
            if not is_of(history, change, out) or not came_late(history, change, out):
                continue
            if was_told(history, change, out):
                continue
            if not any(is_reason(history, other, change, out) for other in history.changes):
                call = change["call"]["n"]
                yield f"{out['route']} of {out['user']} at {out['arrived']:.2f} s, without a reason after call {call}"
                break


def is_of(history, change, out):
    """Whether a logout concerns what a sign-in gave."""
    if history.kind != "f":
        return change["user"] == out["user"]
    account = (change["call"]["params"].get("settings") or {}).get("account", {})
    if out["token"] in (change["credential"], account.get("refresh_token")):
        return True
    grant = history.record.get("grants", {}).get(change["credential"]) or next(
        (entry.get("grant") for entry in history.vendor if entry["token"] == change["credential"]), None)
    return grant is not None and out.get("grant") == grant


def came_late(history, change, out):
    """Whether a logout took effect after the sign-in, or after the sign-in's own request."""
    if change["ended"] < out["arrived"]:
        return True
    # Whose request it is can be told while no other call has the same credential.
    is_unique = sum(other["credential"] == change["credential"] for other in history.changes) == 1
    return history.kind != "f" and is_unique and any(
        entry["route"] in IN[history.kind] and entry["token"] == change["credential"] and entry["acted"] is not None
        and change["sent"] < entry["arrived"] and entry["acted"] < out["acted"] and out["arrived"] < change["ended"]
        for entry in history.vendor)


def is_reason(history, other, change, out):
    """Whether a change may be why the user was signed out, though the sign-in came before it."""
    if other is change or other["sent"] > out["arrived"] or other["service"] != change["service"]:
        return False
    if other["call"] and history.precedes(other["call"], change["call"]):
        return False
    return other["user"] != change["user"] or (history.kind == "f" and other["credential"] != change["credential"])


def was_told(history, change, out):
    """Whether the user's end was told between the sign-in and the logout."""
    return any(event["type"] == "userLoggedOut" and change["sent"] < history.heard[event["cursor"]] < out["acted"] + 1
               for event in history.events if event["data"].get("cause") in ("implicit", "guest", "switch"))


def revoked(history):
    """Tokens that the daemon revoked itself: those of a sign-in in progress, and those that it issues at the end."""
    for change in history.changes:
        for out in history.vendor:
            if (change["call"] and change["success"] and out["route"] == "revocation" and out["acted"] is not None
                    and is_of(history, change, out) and out["arrived"] < change["ended"] and change["sent"] < out["acted"]):
                yield f"call {change['call']['n']} is accepted while the daemon revokes its grant at {out['acted']:.2f} s"
                break
        error = (change["call"] or {}).get("error") or {}
        if error.get("data", {}).get("reason") != "invalidAuth":
            continue
        for out in history.vendor:
            if (out["route"] == "revocation" and out["acted"] is not None and is_of(history, change, out)
                    and change["sent"] < out["arrived"] < change["ended"]):
                yield f"call {change['call']['n']} is refused, because the daemon revoked its grant at {out['acted']:.2f} s"
                break
    out = {entry["token"]: entry for entry in history.vendor if entry["route"] == "revocation" and entry["acted"] is not None}
    for service, token in (history.record.get("token") or {}).items():
        entry = out.get(token.get("token"))
        if not entry:
            continue
        signed_in = [change for change in history.changes if change["credential"] == entry["token"] and change["success"]]
        # What nil has revoked already stays revoked when it is set again.
        if signed_in and signed_in[-1]["sent"] < entry["arrived"]:
            yield f"token.get of {service} gives a token that the daemon revoked at {entry['acted']:.2f} s"


def spent_once(history):
    """8: no rotating refresh token is spent twice at once."""
    spent = [entry for entry in history.vendor if entry["route"] == "refresh"]
    for index, first in enumerate(spent):
        end = first["answered"]
        if end is None:
            # The daemon notices at once that a connection is cut, and gives up when an answer hangs.
            end = first["arrived"] + (0 if first["fault"] == "cut" else TIMEOUT - 0.3)
        for second in spent[index + 1:]:
            if second["token"] != first["token"] or second["arrived"] >= end:
                continue
            if not history.was_killed(first["arrived"], second["arrived"]):
                yield f"a refresh token of {first['user']} is spent at {first['arrived']:.2f} s and at {second['arrived']:.2f} s"
