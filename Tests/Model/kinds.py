"""The kinds of instances: their settings, their sign-in and sign-out, and the user that an answer names."""
import base64, collections, json, threading, time

import answers, facts
from outside import OWN

KINDS = {letter: (kind["name"], kind["sandbox"]["prefix"]) for letter, kind in facts.ALL.items()}
# The tokens of a kind of which at least one must name a user.
FEW = 20
CLIENT = "3MVG9sandbox.rotating"


def settings(letter, vendor, namespace="busy"):
    base = vendor.base(KINDS[letter][1], namespace)
    own = facts.settings(letter, base, vendor.base(KINDS[letter][1], namespace, True))
    if letter == "f":
        own |= app(vendor) | {"services": ["cases", "knowledge"]}
    return own | {"timeout": 2, "refresh": {"min_interval": 0.2, "max_attempts": 2, "deadline": 6}}


def app(vendor):
    """The connected app of Salesforce's instances at a vendor."""
    return getattr(vendor, "app", {"client_id": CLIENT})


def service(letter):
    return {"service": "cases"} if letter == "f" else {}


def sign_in(letter, user, world, life=600, vendor=None):
    """The method and its params without the instance; `None` when the vendor gives no grant."""
    if letter == "f":
        body = {"user": user, "ttl": life, "rotating": True, "client_id": app(vendor)["client_id"]}
        grant = world.sandbox.ask("POST", "/_grant", body)
        if not grant:
            return None
        world.names.learn("sf", grant["access_token"], user)
        world.names.learn("sf", grant["id"].rsplit("/", 1)[1], user)
        account = {name: grant[name] for name in ("access_token", "refresh_token", "instance_url", "id")}
        if vendor is world.outside:
            account = {name: value.replace(world.sandbox.url, OWN) for name, value in account.items()}
        return sign_out(letter)[0], {"service": "cases", "settings": {"account": account}}
    return with_credential(letter, user, answers.credential(letter, user, world.programs.clock.now(), life))


def with_credential(letter, user, credential):
    """The method and its params of a sign-in with a credential of the app."""
    kind = facts.ALL[letter]
    params = facts.filled(json.loads(kind["model"]["sign_in"]), user=user, credential=credential)
    return kind["sandbox"]["sign_in"]["method"], params


def sign_out(letter):
    call = facts.ALL[letter]["sandbox"]["sign_out"]
    return call["method"], json.loads(call.get("params", "{}"))


def sent_user(method, params):
    """The user whom a sign-in is for."""
    jwt = params.get("jwt") or params.get("identityToken")
    return owner(jwt) if jwt else None


def owner(token):
    """The user's id at the customer in a JWT, of theirs or of the vendor."""
    found = claims(token)
    return found.get("external_id") or str(found.get("sub", "")).rpartition("uid:")[2] or None


def claims(token):
    try:
        body = token.split(".")[1]
        return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (ValueError, IndexError):
        return {}


def issued(model, state):
    """The tokens and ids of users in the state of a vendor, each with its user."""
    people = {}
    if "users" in model:
        place = model["users"]
        people = {one[place["id"]]: one[place["user"]] for one in state[place["list"]]}
        yield from ((str(id), user) for id, user in people.items())
    if "issued" in model:
        place = model["issued"]
        for one in state[place["list"]]:
            user = one.get(place["user"])
            yield one[place["token"]], people.get(user) if "users" in model else user


class Names:
    """Users by the tokens and ids that the vendors gave out, read from the sandbox when one is new."""

    def __init__(self, sandbox):
        self.sandbox, self.known, self.lock = sandbox, {}, threading.Lock()
        # How many tokens of a kind named a user, and how many did not.
        self.tokens = collections.Counter()

    def learn(self, vendor, key, user):
        self.known[vendor, key] = user

    def user(self, vendor, key):
        """`None` when the vendor no longer tells."""
        if (vendor, key) not in self.known:
            with self.lock:
                if (vendor, key) not in self.known:
                    self.refresh()
        return self.known.get((vendor, key))

    def refresh(self):
        state = self.sandbox.ask("GET", "/_state")
        if not state:
            return
        for letter, (_, vendor) in KINDS.items():
            for key, user in issued(facts.ALL[letter]["model"], state[vendor]):
                self.learn(vendor, key, user)

    def of_token(self, letter, token):
        """The user of a token; `None` for a visitor without a name, and when the vendor no longer tells."""
        model = facts.ALL[letter]["model"]
        if "issued" in model:
            user = self.user(KINDS[letter][1], token)
        elif "jwt" in model:
            user = owner(token)
        else:
            user = token.split(".")[1] if token.startswith(answers.MARK) else None
        self.tokens[letter, user is not None] += 1
        return user

    def silent(self):
        """The kinds whose tokens never named a user: what is checked of their tokens says nothing."""
        return [name for letter, (name, _) in KINDS.items()
                if self.tokens[letter, False] >= FEW and not self.tokens[letter, True]]

    def of_user(self, letter, user):
        """The user that a `User` names."""
        if facts.ALL[letter]["model"].get("by_id"):
            return self.user(KINDS[letter][1], user["id"]) if user.get("id") else None
        return user.get("externalId")
