// libjson-rpc-cpp as a client, with lines. It makes one connection for each call, so it receives no notifications.
#include <iostream>
#include <jsonrpccpp/client.h>
#include <jsonrpccpp/client/connectors/unixdomainsocketclient.h>

int main(int, char **arguments) {
  jsonrpc::UnixDomainSocketClient connector(arguments[1]);
  jsonrpc::Client client(connector);
  Json::Value instance, said, params(Json::objectValue);
  Json::Reader().parse(arguments[2], instance);
  said["name"] = client.CallMethod("daemon.info", params)["name"];
  try {
    params["instance"] = "nobody";
    client.CallMethod("token.get", params);
  } catch (const jsonrpc::JsonRpcException &error) {
    said["code"] = error.GetCode();
  }
  client.CallMethod("instance.create", instance);
  said["event"] = client.CallMethod("events.list", Json::objectValue)["events"][0]["type"];
  std::string value;
  for (int i = 0; i < 6000; i++) value += "ä\n";
  params["instance"] = "desk";
  params["key"] = "k";
  params["value"] = value;
  client.CallMethod("storage.put", params);
  params.removeMember("value");
  said["stored"] = client.CallMethod("storage.get", params)["value"] == value;
  std::cout << Json::FastWriter().write(said) << std::flush;
}
