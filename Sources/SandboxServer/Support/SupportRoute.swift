/// The endpoints of the Support backend.
enum SupportRoute: Equatable {
  case settings(app: String)
  case exchangeUniqueID
  case exchangeAnonymous
  case me
  case requests
  case createDevice
  case deleteDevice(String)

  /// Returns the endpoint of a path without prefix.
  static func find(method: String, path: [String]) throws(SupportRefusal) -> SupportRoute {
    let path = try withoutSuffix(path)
    let settings = [["api", "private", "mobile_sdk", "settings"], ["api", "mobile", "sdk", "settings"]]
    if path.count == 5, settings.contains(Array(path.dropLast())) {
      return try only("GET", method, .settings(app: path[4]))
    }
    switch path {
    case ["access", "sdk", "jwt"]: return try only("POST", method, .exchangeUniqueID)
    case ["access", "sdk", "anonymous"]: return try only("POST", method, .exchangeAnonymous)
    case ["api", "mobile", "users", "me"]: return try only("GET", method, .me)
    case ["api", "mobile", "requests"]: return try only("GET", method, .requests)
    case ["api", "mobile", "push_notification_devices"]: return try only("POST", method, .createDevice)
    default: break
    }
    if path.count == 4, Array(path.dropLast()) == ["api", "mobile", "push_notification_devices"] {
      return try only("DELETE", method, .deleteDevice(path[3]))
    }
    throw .notFound("route")
  }

  /// Returns the path without the suffix `.json`, which all paths under `api` must have.
  private static func withoutSuffix(_ path: [String]) throws(SupportRefusal) -> [String] {
    guard path.first == "api", let last = path.last else { return path }
    guard last.hasSuffix(".json") else { throw .notFound("route: it must end in .json") }
    return path.dropLast() + [String(last.dropLast(5))]
  }

  private static func only(
    _ allowed: String, _ method: String, _ route: SupportRoute
  ) throws(SupportRefusal) -> SupportRoute {
    guard method == allowed else {
      throw SupportRefusal(status: 405, text: "MethodNotAllowed", note: "only \(allowed) is known here")
    }
    return route
  }
}
