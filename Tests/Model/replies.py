"""What every message of the daemon must be, whatever was asked."""
import json, re

from answers import MARK

LONGEST = 60 * 1024
UNBOUNDED = {"rpc.discover", "daemon.metrics"}
RETRYABLE = set(
    "network timeout rateLimited serverError badResponse providerTimeout providerFailed providerBackoff rateLimit "
    "tooManyInFlight shuttingDown storeUnavailable".split())
REASONS = {
    -32700: "parseError", -32600: "invalidRequest frameTooLarge", -32601: "methodNotFound", -32602: "invalidParams",
    -32800: "cancelled", -32001: "accessDenied", -32002: "instanceNotFound notFound", -32003: "instanceExists",
    -32010: "notAuthenticated reauthNeeded locked noIdentity userNotAuthorized rotationInterrupted superseded "
            "epochChanged wrongKind identityMismatch identityChangeRefused ownedByFile personalDataRefused",
    -32020: "failedToDecodeJWT expiredJWT invalidJWTClaims invalidChannelKey invalidIdentifier weakIdentifier "
            "invalidAuthParameters authenticationSettingsError invalidName invalidEmail invalidAccessToken tokenHasExpired",
    -32021: "invalidAuth expiredJWT agentNotAllowed invalidGrant invalidClient externalUserIdHasChanged "
            "invalidSharedSecret invalidAccountKey invalidAccessToken invalidName invalidEmail tokenHasExpired forbidden "
            "notFound",
    -32030: "network timeout rateLimited serverError badResponse",
    -32040: "noProvider providerNotAllowed providerTimeout providerFailed providerOutputInvalid "
            "providerTokenForOtherUser providerDenied providerBackoff",
    -32050: "rateLimit tooManyInFlight replyTooLarge tooManyInstances tooManySubscriptions storageFull shuttingDown",
    -32060: "storeUnavailable keyMissing instanceQuarantined invalidConfiguration"}
REASONS = {code: set(text.split()) for code, text in REASONS.items()}
DATA = set(
    "reason retryable instance member retryAfter reference httpStatus vendorCode vendorDescription hints mistakes count "
    "nearest offset".split())
# Tokens whatever vendor made them: of Support, Chat, Salesforce twice, a JWT.
TOKENS = re.compile(
    r"zs_[0-9a-f]{32}|zct_[0-9a-f]{32}|!AQ[0-9a-f]{32}|5Aep861[0-9a-f]{30}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{20,}|" + MARK)


def leak(text):
    """The secret in a text that must hold none."""
    found = TOKENS.search(text)
    return found and f"a secret, {found.group()[:24]}…, in: {text[max(0, found.start() - 200):found.end() + 60]}"


def error(value):
    """What is wrong with an error."""
    if not isinstance(value, dict) or set(value) != {"code", "message", "data"}:
        return f"the members of an error: {value}"
    data, code, message = value["data"], value["code"], value["message"]
    if not isinstance(message, str) or not message.strip() or "\n" in message:
        return f"the message of an error: {value}"
    if code not in REASONS:
        return f"the code of an error: {value}"
    if data.get("reason") not in REASONS[code]:
        return f"a reason that its code does not have: {value}"
    retryable = data.get("retryable")
    if not isinstance(retryable, bool) or (
            retryable != (data["reason"] in RETRYABLE) and data["reason"] != "storeUnavailable"):
        return f"retryable is wrong: {value}"
    if set(data) - DATA:
        return f"unknown data of an error, {set(data) - DATA}: {value}"
    return None


def read(world, line):
    """Returns what a line holds."""
    try:
        return json.loads(line)
    except ValueError:
        world.fail(f"a line that is no JSON: {line[:300]}")


def check(world, line, value, method=None):
    """Checks a line with its value: an answer to `method`, unless that is `None`."""
    world.count("messages are bounded lines of JSON")
    if len(line) > LONGEST and method not in UNBOUNDED | {"batch"}:
        world.fail(f"a message of {len(line)} bytes, the answer to {method}: {line[:200]}")
    for part in value if isinstance(value, list) else [value]:
        text, problem = json.dumps(part, ensure_ascii=False), None
        if "error" in part:
            world.count("errors have the documented form and no secret")
            problem = error(part["error"]) or leak(text)
        elif part.get("method", "").startswith("events.") or method == "events.list":
            world.count("events have no secret")
            problem = leak(text)
        if problem:
            world.fail(f"{problem} (the answer to {method})")
