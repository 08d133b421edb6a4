"""Credentials as an app's owner makes them, and the ways in which owners fail. Shared by the provider and the delegates."""
import base64, hashlib, hmac, json, os, uuid

import facts

MARK = "zqsecret"
MESSAGING = ("app_demo", b"sandbox-demo-secret-0001-protects-nothing")
CHAT = (None, b"sandbox-demo-secret-0005-protects-nothing")
# Wrong answers. "other" is a credential of another user, "elsewhere" a URL that nobody allowed.
LIES = ["other", "expired", "garbage", "empty", "huge", "binary", "elsewhere"]
# Ends of a provider's run that are no answers.
ENDS = ["hang", "later", "fail", "crash", "child", "close"]


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwt(key, claims):
    kid, secret = key
    head = {"alg": "HS256", "typ": "JWT"} | ({"kid": kid} if kid else {})
    text = ".".join(encode(json.dumps(part).encode()) for part in (head, claims))
    return text + "." + encode(hmac.new(secret, text.encode(), hashlib.sha256).digest())


def credential(letter, user, now, life):
    """A credential that the vendor of a kind accepts: a JWT, or the text of another token."""
    now = int(now)
    if letter == "m":
        return jwt(MESSAGING, {"scope": "user", "external_id": user, "iat": now, "exp": now + life, "jti": str(uuid.uuid4())})
    if letter == "c":
        return jwt(CHAT, {"external_id": user, "name": user, "email": user + "@example.test", "iat": now,
                          "exp": now + min(life, 400), "jti": str(uuid.uuid4())})
    if letter == "s":
        return f"{user}:{MARK}/+={uuid.uuid4()}"
    return f"{MARK}.{user}.{uuid.uuid4()}"


def answer(question, behaviour, user, now, life=600, stray="https://attacker.test"):
    """The answer to a question as a dictionary. `user` is the one to answer for when the question names none."""
    letter, name = facts.letter_of(question["kind"]), question["question"]
    if name == "shouldAuthenticate":
        if behaviour != "elsewhere":
            return {"authenticate": False}
        urls = {"instanceUrl": stray} | ({"communityUrl": stray, "communityId": "1"} if len(stray) % 2 else {})
        tokens = {"accessToken": f"{MARK}-{uuid.uuid4()}", "refreshToken": f"{MARK}-{uuid.uuid4()}"}
        return {"authenticate": True, "settings": urls | tokens}
    if name == "authenticationFailed":
        return {"proceed": behaviour != "other"}
    known = (question.get("user") or {})
    if letter != "s":
        user = known.get("externalId") or user
    # A token of the Chat Center names no user, so nobody can tell whose it is.
    if behaviour == "other" and letter != "e" and known.get("id" if letter == "s" else "externalId"):
        user = "liar-" + question["instance"]
    if behaviour == "expired":
        now -= 7200
    token = credential(letter, user, now, life)
    if behaviour == "garbage":
        token = token[: len(token) // 2] + " " + MARK
    if behaviour == "huge":
        token = MARK * 40_000
    if behaviour in ("empty", "binary"):
        token = ""
    return {"uniqueId" if letter == "s" else "token": token}
