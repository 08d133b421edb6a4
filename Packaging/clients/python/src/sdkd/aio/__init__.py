"""The client for asyncio; see the package `sdkd` for the rest.

    async with sdkd.aio.connect() as daemon:
        token = await daemon.token("front-desk", min_ttl=30)
"""

from ._client import Client, connect
from ._delegate import Answering, Attachment, Status
from ._events import ConnectionStatus, Events, OnStatus

__all__ = ["Answering", "Attachment", "Client", "ConnectionStatus", "Events", "OnStatus", "Status", "connect"]
