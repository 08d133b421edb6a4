import JSONRPC
import SDKProtocol

/// The frames of the protocol, without their correlation ids.
struct EdnaFrame {
  let settings: EdnaSettings
  /// The id of this device: the same for the life of the instance, and different from other instances'.
  let deviceUid: String

  private static let apiVersion: JSON = 19

  /// Returns the frame that registers this device, or registers it again.
  func registerDevice(_ state: EdnaState) -> JSONObject {
    var data: JSONObject = ["clientId": .string(state.clientId)]
    data["deviceAddress"] = state.deviceAddress.map(JSON.string)
    data["providerUid"] = settings.providerUid.map(JSON.string)
    data["appPackage"] = .string(settings.appPackage ?? "sdkd")
    data["appVersion"] = .string(SDKVersion.program)
    data["deviceUid"] = .string(deviceUid)
    data["osName"] = "linux"
    data["osVersion"] = "linux"
    data["locale"] = "en"
    data["timeZone"] = "UTC"
    data["deviceName"] = "sdkd"
    data["deviceModel"] = "linux"
    data["apiVersion"] = Self.apiVersion
    return ["action": "registerDevice", "data": .object(data)]
  }

  /// Returns the frame that opens the chat.
  func initChat(_ state: EdnaState) -> JSONObject { message("INIT_CHAT", state, data: state.data) }

  /// Returns the frame that identifies the user.
  func clientInfo(_ state: EdnaState, name: String?, data: [String: String]?) -> JSONObject {
    var more = JSONObject()
    more["name"] = name.map(JSON.string)
    more["preRegister"] = false
    more["authorized"] = true
    more["clientIdIsEncrypted"] = .bool(state.isEncrypted)
    more["chatApiVersion"] = Self.apiVersion
    more["libVersion"] = .string(SDKVersion.program)
    return message("CLIENT_INFO", state, data: data, more)
  }

  /// Returns the frame that logs the user out on this device.
  func clientOffline(_ state: EdnaState) -> JSONObject { message("CLIENT_OFFLINE", state, data: nil) }

  /// Returns the frame that sets the address for the device's push messages. An empty address ends them.
  func updateDevice(push address: String) -> JSONObject {
    ["action": "updateDevice", "data": ["pnsPushAddress": .string(address)]]
  }

  /// Returns the secrets that a frame has, by their member.
  static func secrets(of frame: JSONObject) -> [String: Secret] {
    let data = frame["data"]
    let members = [
      "clientId": data?["clientId"] ?? data?["content"]?["clientId"], "deviceAddress": data?["deviceAddress"],
      "pnsPushAddress": data?["pnsPushAddress"],
    ]
    return members.compactMapValues { $0?.stringValue }.filter { !$0.value.isEmpty }.mapValues { Secret($0) }
  }

  private func message(
    _ type: String, _ state: EdnaState, data: [String: String]?, _ more: JSONObject = [:]
  ) -> JSONObject {
    var content: JSONObject = ["type": .string(type), "clientId": .string(state.clientId)]
    content["appMarker"] = settings.appMarker.map(JSON.string)
    content["data"] = data.map(EdnaState.attributes)
    for member in more.members { content[member.key] = member.value }
    var body: JSONObject = ["important": false, "content": .object(content)]
    body["deviceAddress"] = state.deviceAddress.map(JSON.string)
    return ["action": "sendMessage", "data": .object(body)]
  }
}
