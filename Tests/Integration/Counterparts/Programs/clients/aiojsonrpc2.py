"""aiojsonrpc2 as a client and delegate, with lines."""
import asyncio, json, sys

# This file has the library's name, so its folder must not be searched.
sys.path.pop(0)
from aiojsonrpc2 import BaseProtocol

path, instance, token = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]


class Client(BaseProtocol):
    def __init__(self):
        self.events = asyncio.Queue()

    async def handle_events_event(self, connection, params, is_notification):
        await self.events.put(params)

    async def handle_delegate_getToken(self, connection, params, is_notification):
        return {"token": token}


async def main():
    client = Client()
    connection = client.build_connection(*await asyncio.open_unix_connection(path))

    async def serve():
        while True:
            await client.process(connection)

    async def call(method, **params):
        return await connection.rpc(method, params, timeout=30)

    serving = asyncio.create_task(serve())
    said = {"name": (await call("daemon.info")).data["name"]}
    refused = await call("token.get", instance="nobody")
    said["code"] = None if refused.success else refused.data["code"]
    await call("events.subscribe")
    await call("instance.create", **instance)
    said["event"] = (await asyncio.wait_for(client.events.get(), 30))["event"]["type"]
    value = "ä\n" * 6000
    await call("storage.put", instance="desk", key="k", value=value)
    said["stored"] = (await call("storage.get", instance="desk", key="k")).data["value"] == value
    await call("delegate.attach", instances=["desk"])
    print(json.dumps(said), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    serving.cancel()


asyncio.run(main())
