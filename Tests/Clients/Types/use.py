"""Uses of the client that mypy must accept, and others that it must refuse."""
from __future__ import annotations

from typing import Optional

import sdkd
from sdkd.types import Answer, DelegateQuestion, Event, Token


def threads() -> None:
    with sdkd.connect(options=sdkd.Options(deadline=3)) as daemon:
        token: Token = daemon.token("desk", min_ttl=30, http=True, deadline=2)
        print(token["tokenId"], token["http"]["headers"], daemon.storage("desk", "draft")["value"])
        daemon.storage.put("desk", "draft", {"text": 1})
        daemon.token()  # type: ignore[call-arg]
        daemon.events(types=["nothing"])  # type: ignore[list-item]
        for item in daemon.events(instances=["desk"], types=["userLoggedIn"]):
            if item["type"] == "gap":
                continue
            event: Event = item
            print(event["instance"])
        daemon.events(on_status=lambda status: print(status.is_connected, status.error and status.error.reason))
        is_here: bool = daemon.events(on_status=print).status.is_connected
        print(is_here)
        daemon.events(on_status=3)  # type: ignore[arg-type]
        with daemon.attach(["desk"], answer, timeout=5) as attachment:
            for status in attachment:
                print(status.state, status.error and status.error.reason)
        try:
            daemon.messaging.login_user("desk", "jwt")
        except sdkd.OutcomeUnknown:
            raise
        except sdkd.Error as error:
            print(error.reason, error.retry_after or 0, error.sentence("de"), sdkd.sentence("network"))


def answer(question: DelegateQuestion) -> Optional[Answer]:
    user = question["user"]
    if user is None:
        raise sdkd.Denied
    return {"token": user["externalId"]} if question["question"] == "getToken" else None


async def tasks() -> None:
    async with sdkd.aio.connect() as daemon:
        session = await daemon.session.open("desk")
        print(session["visible"])
        async for item in daemon.events(since="x"):
            print(item["cursor"])

        async def respond(question: DelegateQuestion) -> Optional[Answer]:
            return answer(question)

        async with await daemon.attach(["desk"], respond):
            pass
