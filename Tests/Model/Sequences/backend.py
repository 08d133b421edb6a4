"""What the vendors' sides share: credentials that name their user, and those that the vendor refuses."""
import itertools

from answers import MARK
from kinds import owner
from loopback import Refused


def person(token):
    """The user whom a credential of the driver or of a vendor names; `None` for another text."""
    if not isinstance(token, str):
        return None
    if token.startswith("eyJ"):
        return owner(token)
    head, mark, rest = token.partition(MARK + ".")
    if mark:
        return rest.split(".")[0]
    return token.split(":")[0] if f":{MARK}" in token else None


class Backend:
    """What all share: revoked credentials, and numbers for new ones."""

    def __init__(self):
        self.revoked, self.numbers, self.devices, self.issued = set(), itertools.count(1), {}, []

    def new(self, begin, user):
        token = f"{begin}{MARK}.{user}.{next(self.numbers)}"
        self.issued.append(token)
        return token

    def check(self, token):
        if token in self.revoked or person(token) is None:
            raise Refused(*self.refusal("", 401))

    def revoke(self):
        """The vendor refuses from now on whatever it has issued or accepted."""
        self.revoked |= set(self.issued)

    def bearer(self, headers):
        return headers.get("authorization", "").removeprefix("Bearer ")
