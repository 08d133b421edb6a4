import Glibc

/// The paths of a generation of the vendor's API.
struct MessagingInAppPaths {
  /// The exchange of an identity JWT.
  let user: String
  /// The first token of a guest.
  let guest: String
  /// The next token of a guest; v2 has none.
  let renewal: String
  /// A token for one more reader.
  let continuation: String
  /// The end of a token.
  let end: String
}

extension MessagingInAppSettings.Generation {
  var paths: MessagingInAppPaths {
    switch self {
    case .v1:
      let root = "/iamessage/v1/authorization"
      return .init(
        user: "\(root)/authenticated/accessToken", guest: "\(root)/unauthenticated/persistedToken",
        renewal: "\(root)/renewToken", continuation: "\(root)/continuityAccessToken", end: "\(root)/revokeToken")
    case .v2:
      let root = "/iamessage/api/v2/authorization"
      let user = "\(root)/authenticated/access-token"
      return .init(
        user: user, guest: "\(root)/unauthenticated/access-token", renewal: "",
        continuation: "\(root)/continuation-access-token", end: user)
    }
  }
}

/// The vendor's URL with the generation of its API. Cleanup deliveries keep it, because the settings may change.
struct MessagingInAppPlace {
  let base: String
  let generation: MessagingInAppSettings.Generation
}

/// The release of the running kernel, such as `6.1.0-18-amd64`.
enum KernelRelease {
  static let text: String = {
    var names = utsname()
    guard uname(&names) == 0 else { return "unknown" }
    return withUnsafeBytes(of: names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }()
}
