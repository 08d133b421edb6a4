/// The endpoints of the Salesforce backend.
///
/// Each is served at the organisation's own address, and under `/instances/NAME` and `/communities/NAME`.
enum SalesforceRoute: Equatable {
  case token
  case revoke
  case userInfo
  case identity(organization: String, user: String)
  case limits
  case createDevice
  case deleteDevice(String)

  static let device = "MobilePushServiceDevice"

  /// Returns the endpoint of a path without prefix, and the instance if the path names one.
  static func find(
    method: String, path: [String]
  ) throws(SalesforceRefusal) -> (route: SalesforceRoute, instance: String?) {
    let instance = path.first == "instances" && path.count > 1 ? path[1] : nil
    return (try find(method: method, at: local(path)), instance)
  }

  private static func find(method: String, at path: [String]) throws(SalesforceRefusal) -> SalesforceRoute {
    switch path {
    case ["services", "oauth2", "token"]: return try only(["POST"], method, .token)
    case ["services", "oauth2", "revoke"]: return try only(["POST", "GET"], method, .revoke)
    case ["services", "oauth2", "userinfo"]: return try only(["GET", "POST"], method, .userInfo)
    default: break
    }
    if path.count == 3, path[0] == "id" {
      return try only(["GET", "POST"], method, .identity(organization: path[1], user: path[2]))
    }
    guard path.count > 3, path[0] == "services", path[1] == "data", isVersion(path[2]) else {
      throw .notFound("no such route")
    }
    let resource = Array(path.dropFirst(3))
    if resource == ["limits"] { return try only(["GET"], method, .limits) }
    if resource == ["sobjects", device] { return try only(["POST"], method, .createDevice) }
    if resource.count == 3, Array(resource.dropLast()) == ["sobjects", device] {
      return try only(["DELETE"], method, .deleteDevice(resource[2]))
    }
    throw .notFound("no such resource")
  }

  /// Whether the endpoint's errors have the form `{"error","error_description"}`.
  static func isOAuth(_ path: [String]) -> Bool { local(path).starts(with: ["services", "oauth2"]) }

  /// Whether the endpoint is an identity service, which refuses in plain text.
  static func isIdentity(_ path: [String]) -> Bool {
    local(path) == ["services", "oauth2", "userinfo"] || local(path).first == "id"
  }

  private static func local(_ path: [String]) -> [String] {
    path.count > 1 && ["instances", "communities"].contains(path[0]) ? Array(path.dropFirst(2)) : path
  }

  /// Whether the text is a version such as `v59.0`. Every version is served.
  private static func isVersion(_ text: String) -> Bool {
    guard text.hasPrefix("v"), text.hasSuffix(".0") else { return false }
    let number = text.dropFirst().dropLast(2)
    return (1...3).contains(number.count) && number.allSatisfy { $0.isASCII && $0.isNumber }
  }

  private static func only(
    _ allowed: [String], _ method: String, _ route: SalesforceRoute
  ) throws(SalesforceRefusal) -> SalesforceRoute {
    guard allowed.contains(method) else {
      throw .rest(405, "METHOD_NOT_ALLOWED", "HTTP Method '\(method)' not allowed. Allowed are \(allowed)")
    }
    return route
  }
}
