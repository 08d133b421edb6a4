"""The secrets that requests to vendors have, as both the vendors and the checks know them."""
import base64, re, urllib.parse

import facts
from answers import MARK

# The secret of the connected app in the definitions of Salesforce's instances.
APP_SECRET = "TOP/SECRET+of-the-app"
# Tokens whatever vendor made them: the kinds' own, a JWT; then what the owners made.
OWN = [token for kind in facts.ALL.values() for token in kind["model"].get("tokens", [])]
TOKENS = re.compile("|".join([*OWN, r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{20,}", MARK]))
WHOLE = re.compile(TOKENS.pattern.replace("|" + MARK, "") + "|" + re.escape(APP_SECRET) + r"|[^\s\"&=;,]*" + MARK + r"[^\s\"&;,]*")
# The length from which a piece of a secret is masked, too.
PIECE = 12


def secrets(text):
    """Those in a request's headers and body, decoded."""
    return {found.group() for found in WHOLE.finditer(urllib.parse.unquote(text.replace("\\/", "/"))) if len(found.group()) >= PIECE}


def pieces(secret):
    """What no text may have of a secret."""
    forms = [secret.lower(), base64.b64encode(secret.encode()).decode().rstrip("=").lower()]
    return {form[start:start + PIECE] for form in forms for start in range(len(form) - PIECE + 1)}


def readings(text):
    """A text as its readers may see it."""
    plain = text.lower()
    yield plain
    for _ in range(2):
        plain = urllib.parse.unquote(re.sub(r'\\(["\\/])', r"\1", plain))
        yield plain
