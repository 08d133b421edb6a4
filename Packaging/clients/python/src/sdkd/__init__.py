"""A client of sdkd, the daemon that keeps users signed in to customer-support chat services.

    with sdkd.connect() as daemon:
        token = daemon.token("front-desk", min_ttl=30)

Methods have the contract's names: `messaging.loginUser` is `daemon.messaging.login_user`. `sdkd.aio` is the same for
asyncio.
"""

from . import aio, types
from ._errors import Denied, Error, OutcomeUnknown, sentence
from ._options import Options
from ._sentences import LANGUAGES
from ._socket import Trust, automatic_socket, standard_trust, system_socket, tenant_socket, user_socket
from ._sync import Answering, Attachment, Client, Events, connect
from .aio import ConnectionStatus, OnStatus, Status

__version__ = "0.1.0"

__all__ = [
    "Answering", "Attachment", "Client", "ConnectionStatus", "Denied", "Error", "Events", "LANGUAGES", "OnStatus", "Options",
    "OutcomeUnknown", "Status", "Trust", "aio", "automatic_socket", "connect", "sentence", "standard_trust", "system_socket",
    "tenant_socket", "types", "user_socket",
]
