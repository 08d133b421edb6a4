import JSONRPC
import SDKInstances
import SDKProtocol

/// A client for an edna installation, which sends requests and opens connections.
struct EdnaWire: Sendable {
  var settings: EdnaSettings
  let services: AdapterServices

  var frames: EdnaFrame { EdnaFrame(settings: settings, deviceUid: services.instanceDigits) }
  var timeout: Double { settings.common.timeout }

  /// Requests the chat's configuration, which checks the credentials. Returns the seconds between pings, 1 to 3600;
  /// `nil` when the vendor wants none.
  func pingInterval(_ state: EdnaState) async throws(SDKError) -> Double? {
    let json = try await get("/api/chat/config", state)
    guard let settings = json["settings"], settings["pingEnabled"]?.boolValue == true,
      let milliseconds = settings["pingIntervalMillis"]?.doubleValue, milliseconds > 0
    else { return nil }
    return min(max(milliseconds / 1000, 1), 3600)
  }

  /// Requests one entry of the history to find out whether the vendor accepts the credentials.
  func probe(_ state: EdnaState) async throws(SDKError) { _ = try await get("/api/client/history?count=1", state) }

  private func get(_ path: String, _ state: EdnaState) async throws(SDKError) -> JSON {
    let request = HTTPRequestParts(
      instance: services.instance, method: "GET", url: settings.restURL + path,
      headers: [("Accept", "application/json")] + EdnaHeaders(state).fields, secrets: state.secrets, timeout: timeout,
      caFile: settings.common.caFile, isRepeatable: true)
    let response: HTTPResponseParts
    do throws(HTTPFailure) {
      response = try await services.send(request)
    } catch {
      throw EdnaFailure.error(error)
    }
    return try EdnaFailure.accepted(response)
  }

  /// Opens a socket and registers this device on it.
  ///
  /// - Parameter seconds: the time limit of each of the two steps.
  /// - Returns: the connection, and the device's address.
  func register(_ state: EdnaState, within seconds: Double) async throws(SDKError) -> (EdnaConnection, String) {
    let request = SocketRequestParts(
      instance: services.instance, url: settings.wsURL, headers: EdnaHeaders(state).fields, timeout: seconds,
      pingInterval: state.pingInterval ?? 3600, caFile: settings.common.caFile)
    let socket: any VendorSocket
    do throws(HTTPFailure) {
      socket = try await services.sockets.open(request)
    } catch {
      throw EdnaFailure.error(error)
    }
    let connection = EdnaConnection(socket, timeout: timeout, secrets: state.secrets, history: services.history)
    return (
      connection,
      try await connection.closingOnFailure { () throws(SDKError) in
        let answer = try await connection.perform(frames.registerDevice(state), within: seconds)
        guard let address = answer["deviceAddress"]?.stringValue, (1...1024).contains(address.utf8.count),
          address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
          throw SDKError(
            .unreachable, .badResponse, "\(EdnaFailure.vendor) registered no device: its answer has no deviceAddress.")
        }
        return address
      }
    )
  }

  /// Opens a connection and brings the user online: `registerDevice`, `INIT_CHAT` and `CLIENT_INFO`, each acknowledged
  ///.
  ///
  /// - Returns: the connection, and the state with the device's address.
  func enter(_ state: EdnaState, name: String?) async throws(SDKError) -> (EdnaConnection, EdnaState) {
    let (connection, address) = try await register(state, within: timeout)
    var entered = state
    entered.deviceAddress = address
    let state = entered
    try await connection.closingOnFailure { () throws(SDKError) in
      _ = try await connection.perform(frames.initChat(state))
      _ = try await connection.perform(frames.clientInfo(state, name: name, data: state.data))
    }
    return (connection, state)
  }

  /// Ends the session on a separate connection, within the time of one request.
  func leave(_ state: EdnaState) async throws(SDKError) {
    try await briefly(state) { [frames] in [frames.clientOffline($0)] }
  }

  /// Sends frames on a separate connection, within the time of one request.
  func briefly(
    _ state: EdnaState, _ requests: @escaping @Sendable (EdnaState) -> [JSONObject]
  ) async throws(SDKError) {
    let (wire, seconds) = (self, timeout)
    try await EdnaFailure.within(seconds) {
      let (connection, address) = try await wire.register(state, within: seconds)
      var state = state
      state.deviceAddress = address
      for request in requests(state) { _ = try await connection.perform(request, within: seconds) }
    }
  }
}
