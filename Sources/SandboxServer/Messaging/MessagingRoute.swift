/// The endpoints of the Messaging backend.
enum MessagingRoute: Equatable {
  case settings(integration: String)
  case config(integration: String)
  case createUser
  case login
  case user(String)
  case updateUser(String)
  case logout(user: String)
  case updateClient(user: String, client: String)
  case conversations(user: String)

  /// Returns the endpoint of a path without prefix, and the app id if the path has one.
  static func find(method: String, path: [String]) throws(MessagingRefusal) -> (route: MessagingRoute, app: String?) {
    // Smooch builds put `sdk` before everything.
    let path = path.first == "sdk" ? Array(path.dropFirst()) : path
    if path.count == 2, path[0] == "settings", path[1].hasSuffix(".json") {
      return (try only("GET", method, .settings(integration: String(path[1].dropLast(5)))), nil)
    }
    guard path.count >= 4, path[0] == "v2" else { throw .notFound("route") }
    if path[1] == "integrations", path.count == 4, path[3] == "config" {
      return (try only("GET", method, .config(integration: path[2])), nil)
    }
    guard path[1] == "apps" else { throw .notFound("route") }
    return (try findInApp(method: method, path: Array(path.dropFirst(3))), path[2])
  }

  private static func findInApp(method: String, path: [String]) throws(MessagingRefusal) -> MessagingRoute {
    if path == ["login"] { return try only("POST", method, .login) }
    // iOS writes `appUsers` in some calls.
    guard path.first?.lowercased() == "appusers" else { throw .notFound("route") }
    switch (path.count, path.dropFirst(2).first) {
    case (1, _): return try only("POST", method, .createUser)
    case (2, _): return method == "PUT" ? .updateUser(path[1]) : try only("GET", method, .user(path[1]))
    case (3, "logout"): return try only("POST", method, .logout(user: path[1]))
    case (3, "conversations"): return try only("GET", method, .conversations(user: path[1]))
    case (4, "clients"): return try only("PUT", method, .updateClient(user: path[1], client: path[3]))
    default: throw .notFound("route")
    }
  }

  private static func only(
    _ allowed: String, _ method: String, _ route: MessagingRoute
  ) throws(MessagingRefusal) -> MessagingRoute {
    guard method == allowed else {
      throw MessagingRefusal(
        status: 405, code: "method_not_allowed", description: "Method not allowed",
        note: "only \(allowed) is known here"
      )
    }
    return route
  }
}
