"""The kinds of instances: their settings, their sign-in and sign-out, and the user that an answer names."""
import base64, json, threading, time

import answers, facts
from outside import OWN

KINDS = {letter: (kind["name"], kind["sandbox"]["prefix"]) for letter, kind in facts.ALL.items()}
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


class Names:
    """Users by the tokens and ids that the vendors gave out, read from the sandbox when one is new."""

    def __init__(self, sandbox):
        self.sandbox, self.known, self.lock, self.read = sandbox, {}, threading.Lock(), 0

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
        support = {user["id"]: user["name"] for user in state["zs"]["users"]}
        for id, user in support.items():
            self.learn("zs", str(id), user)
        for token in state["zs"]["accessTokens"]:
            self.learn("zs", token["accessToken"], support.get(token["userId"]))
        for token in state["sf"]["accessTokens"]:
            self.learn("sf", token["accessToken"], token.get("user"))
        for token in state["zc"]["idTokens"]:
            self.learn("zc", token["idToken"], token.get("externalId"))

    def of_token(self, letter, token):
        if KINDS[letter][1] in ("zs", "sf", "zc"):
            return self.user(KINDS[letter][1], token)
        if "jwt" in facts.ALL[letter]["model"]:
            return owner(token)
        return token.split(".")[1] if token.startswith(answers.MARK) else None

    def of_user(self, letter, user):
        """The user that a `User` names."""
        if KINDS[letter][1] in ("zs", "sf"):
            return self.user(KINDS[letter][1], user["id"]) if user.get("id") else None
        return user.get("externalId")
