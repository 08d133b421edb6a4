"""What every message of the daemon must be, whatever was asked."""
import collections, itertools, json, os

from programs import ROOT
from secrets_of import TOKENS

LONGEST = 60 * 1024
UNBOUNDED = {"rpc.discover", "daemon.metrics"}
RETRYABLE = set(
    "network timeout rateLimited serverError badResponse providerTimeout providerFailed providerBackoff rateLimit "
    "tooManyInFlight shuttingDown storeUnavailable".split())
# What waiting can't change in some cases only, such as a redirect.
SOMETIMES = {"storeUnavailable", "badResponse"}
with open(os.path.join(ROOT, "Packaging", "openrpc.json")) as file:
    CONTRACT = json.load(file)
COMPONENTS = CONTRACT["components"]
DATA = set(COMPONENTS["schemas"]["ErrorData"]["properties"])


def declared(*lists):
    """The reasons of lists of declared errors, by code."""
    reasons = collections.defaultdict(set)
    for reference in itertools.chain(*lists):
        error = COMPONENTS["errors"][reference["$ref"].rsplit("/", 1)[1]]
        reasons[error["code"]] |= set(error["data"]["allOf"][1]["properties"]["reason"]["enum"])
    return reasons


REASONS = {method["name"]: declared(method["errors"], CONTRACT["x-errors"]) for method in CONTRACT["methods"]}
# Which method a part of a batch answers is not looked up.
ANY = declared(*(method["errors"] for method in CONTRACT["methods"]), CONTRACT["x-errors"])


def leak(text):
    """The secret in a text that must hold none."""
    found = TOKENS.search(text)
    return found and f"a secret, {found.group()[:24]}…, in: {text[max(0, found.start() - 200):found.end() + 60]}"


def error(value, method):
    """What is wrong with an error of a method."""
    if not isinstance(value, dict) or set(value) != {"code", "message", "data"}:
        return f"the members of an error: {value}"
    data, code, message = value["data"], value["code"], value["message"]
    if not isinstance(message, str) or not message.strip() or "\n" in message:
        return f"the message of an error: {value}"
    if data.get("reason") not in REASONS.get(method, ANY).get(code, ()):
        return f"an error that is not declared for {method}: {value}"
    retryable = data.get("retryable")
    if not isinstance(retryable, bool) or (
            retryable != (data["reason"] in RETRYABLE) and (retryable or data["reason"] not in SOMETIMES)):
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
            problem = error(part["error"], method) or leak(text)
        elif part.get("method", "").startswith("events.") or method == "events.list":
            world.count("events have no secret")
            problem = leak(text)
        if not problem and "moonlight-" in text:
            problem = world.outside.repeated(world, part, f"the answer to {method}")
        if problem:
            world.fail(f"{problem} (the answer to {method})")
