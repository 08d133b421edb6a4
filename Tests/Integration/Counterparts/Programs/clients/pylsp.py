"""python-lsp-jsonrpc as a client and delegate, with headers."""
import json, queue, socket, sys, threading

from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.exceptions import JsonRpcException
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter

path, instance, token = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
connection = socket.socket(socket.AF_UNIX)
connection.connect(path)
file = connection.makefile("rwb")
events = queue.Queue()
handlers = {"events.event": events.put, "delegate.getToken": lambda params: {"token": token}}
endpoint = Endpoint(handlers, JsonRpcStreamWriter(file).write)
threading.Thread(target=JsonRpcStreamReader(file).listen, args=[endpoint.consume], daemon=True).start()


def call(method, **params):
    return endpoint.request(method, params).result(timeout=30)


said = {"name": call("daemon.info")["name"]}
try:
    call("token.get", instance="nobody")
except JsonRpcException as error:
    said["code"] = error.code
call("events.subscribe")
call("instance.create", **instance)
said["event"] = events.get(timeout=30)["event"]["type"]
value = "ä\n" * 6000
call("storage.put", instance="desk", key="k", value=value)
said["stored"] = call("storage.get", instance="desk", key="k")["value"] == value
call("delegate.attach", instances=["desk"])
print(json.dumps(said), flush=True)
sys.stdin.read()
