"""The vendor's side of `salesforce.messaging`, as far as the sequences need it: the exchange of JWTs, continuations, revocations."""
import json

import answers
from backend import Backend, person

ROUTES = ["exchange", "exchange", "revoke", "continuation"]
IN, OUT = set(), set()
LEAVING = ["revoke"]
SETTINGS = [{"keep_identity_token": True}, {"sign_in": "on_demand"}]
STEPS = ["sign_out local"]


class Vendor(Backend):
    def refusal(self, route, status):
        return status, {"message": "The token is not valid." if status == 401 else "Try later"}

    def access(self, user):
        """An access token that names its user; like every JWT here, nobody checks its signature."""
        claims = {"sub": "v2/iamessage/AUTH/model/uid:" + user, "clientId": "v1/model/1", "jti": next(self.numbers)}
        token = ".".join(answers.encode(json.dumps(part).encode()) for part in ({"alg": "none"}, claims)) + "." + answers.MARK
        self.issued.append(token)
        return 200, {"accessToken": token, "lastEventId": "0"}

    def request(self, method, path, headers, body):
        token = self.bearer(headers) or json.loads(body or b"{}").get("customerIdentityToken", "")
        entry = {"token": token, "user": person(token)}

        def act():
            self.check(token)
            if method == "DELETE":
                self.revoked.add(token)
                return 204, None
            self.issued.append(token)
            return self.access(entry["user"])

        return {"POST": "exchange", "DELETE": "revoke"}.get(method, "continuation"), entry, act
