"""Credentials as an app's owner makes them, and the ways in which owners fail. Shared by the provider and the delegates."""
import base64, hashlib, hmac, json, os, uuid

import facts

MARK = "zqsecret"
# The RSA key of the sandbox's keyset for in-app messaging: its name, its modulus and its private exponent.
KEYSET = "inapp_demo"
MODULUS = int(
    "8fe3e07c75df53d97cd90aab9fe4ea5568b04d87900260323b0599c743c24e9367887f1948fdc79f77dc19129f7465b8174e86b1034c2137bbbf91f9"
    "c2a14762099625e9cbc0010ce46efa035c50842181041c33c384b2429f2d94e5a336ebc59ad4477d31c2a2c5362379a827fe054fe760c50e707ada12"
    "8171fe4bb8f367fc56bfedee2f0be1456deab750248952ba3a7c0b10a221173be72a81c2a9036f7a18a09c4ed93b4ec1b27b2b31b2ecf48975506828"
    "dc0e768ffaa1420358086d4996a183b1778929c4d349f5714939f820aedb501849c35a172ba80d912f9b770b8924eb813493529379037b46583111b7"
    "cabdea212abded5f0dc0468df306c8a5", 16)
EXPONENT = int(
    "b799e5cfe9f7d55e26582bad62910e117d4bb921c937bed75948843826d5c0bd85d63d975df3b4cc5e7c91e199654485e9f761166d46aefc16ad12ee"
    "c6d253eb5ca0223078b3bea35cb7de7c7b46a1d2be75282744cc0549cd22b46370279c20c0b72da129e5591c9b4018f3e053d92363f1ae8006363c1c"
    "70dfabc3a373b2b1f779f11224fcc7fc2485c9998a4385c01ab474a941799d7546aaa859836869e5d53cd0529f87748abd29342c4f0c389a4d424baf"
    "10f5eec07d6903114d885a30b478cb0ed5f7392f8273db5db816616697c9817196c0c30796c087cb51e81c5b6820cc4c6c923cfbce34c93a9e057a89"
    "5e42ac452e71448b3496b8dfe1c2f5f", 16)
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


def identity_jwt(claims):
    """A JWT with RS256 (RFC 8017, 8.2.1)."""
    text = ".".join(encode(json.dumps(part).encode()) for part in ({"alg": "RS256", "typ": "JWT", "kid": KEYSET}, claims))
    digest = bytes.fromhex("3031300d060960864801650304020105000420") + hashlib.sha256(text.encode()).digest()
    padded = b"\0\1" + b"\xff" * (256 - 3 - len(digest)) + b"\0" + digest
    return text + "." + encode(pow(int.from_bytes(padded, "big"), EXPONENT, MODULUS).to_bytes(256, "big"))


def credential(letter, user, now, life):
    """A credential that the vendor of a kind accepts: a JWT, or the text of another token."""
    model, unique = facts.ALL[letter]["model"], str(uuid.uuid4())
    if "jwt" not in model:
        return facts.filled(model.get("credential", "{mark}.{user}.{uuid}"), mark=MARK, user=user, uuid=unique)
    own, now = model["jwt"], int(now)
    end = now + min(life, own.get("longest", life))
    claims = facts.filled(own["claims"], user=user) | {"iat": now, "exp": end, "jti": unique}
    # Without a secret, the sandbox's keyset has the key.
    return jwt((own.get("kid"), own["secret"].encode()), claims) if "secret" in own else identity_jwt(claims)


def member(letter):
    """The member of an answer that has the credential."""
    return facts.ALL[letter]["model"].get("answer", "token")


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
    return {member(letter): token}
