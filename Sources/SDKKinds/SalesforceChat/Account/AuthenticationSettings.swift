import JSONRPC
import SDKInstances
import SDKProtocol

/// Authentication settings from an app or the owner, checked without the network (`rows.md`, F1
/// and F2).
struct AuthenticationSettings: Sendable, Hashable {
  let account: SalesforceAccount
  let accessToken: Secret

  /// The names of the members in one form of the settings.
  private struct Names {
    var path: String
    var instanceURL: String
    var accessToken: String
    var refreshToken: String
    var clientId: String
    var communityURL: String
    var communityId: String
    var identityURL: String
  }

  private static let own = Names(
    path: "settings", instanceURL: "instanceUrl", accessToken: "accessToken", refreshToken: "refreshToken",
    clientId: "clientId", communityURL: "communityUrl", communityId: "communityId", identityURL: "identityUrl")

  /// The names that the Mobile SDK uses.
  private static let mobile = Names(
    path: "settings.account", instanceURL: "instance_url", accessToken: "access_token",
    refreshToken: "refresh_token", clientId: "client_id", communityURL: "sfdc_community_url",
    communityId: "sfdc_community_id", identityURL: "id")

  /// The shape of settings that are not `null`.
  static let jsonSchema = JSONSchema.named(
    "AuthenticationSettings",
    .object([
      .optional("instanceUrl", .url, "the organisation's URL; required without account"),
      .optional("accessToken", .secret, "the access token, a secret; required without account"),
      .optional("refreshToken", .secret, "the refresh token: a secret"),
      .optional("clientId", .string(), "the connected app; the instance's client_id unless given"),
      .optional("communityUrl", .url, "the community's URL"),
      .optional("communityId", .string(), "the community's id"),
      .optional("identityUrl", .url, "the URL that names the user, …/id/ORG/USER"),
      .optional("account", .map(.any), "the Mobile SDK's account instead of the others, in its own field names"),
    ]))

  /// Reads settings.
  ///
  /// - Throws: `authenticationSettingsError` that names the missing or invalid member; `invalidAuthParameters` for the
  ///   word of a failed program in place of a token.
  init(_ members: JSONObject) throws(SDKError) {
    if let violation = Self.jsonSchema.violation(in: .object(members), at: "settings") {
      throw Self.wrong(violation.sentence, violation.member)
    }
    var members = members
    var names = Self.own
    if let account = members["account"]?.objectValue {
      guard members.members.allSatisfy({ $0.key == "account" || $0.value.isNull }) else {
        throw Self.wrong("The settings have account and more; give one or the other.", "settings.account")
      }
      members = account
      names = Self.mobile
    }
    let reader = Reader(members: members, path: names.path)
    var missing: [String] = []
    for name in [names.instanceURL, names.accessToken] where try reader.text(name) == nil { missing.append(name) }
    if let first = missing.first {
      throw Self.wrong(
        "The settings lack \(missing.joined(separator: " and ")); both are needed.", "\(names.path).\(first)")
    }
    guard let url = try reader.base(names.instanceURL), let token = try reader.token(names.accessToken) else {
      throw Self.wrong("The settings can't be read.", names.path)
    }
    accessToken = token
    var account = SalesforceAccount(instanceURL: url)
    account.refreshToken = try reader.token(names.refreshToken)
    account.clientId = try reader.identifier(names.clientId)
    account.communityURL = try reader.base(names.communityURL)
    account.communityId = try reader.identifier(names.communityId)
    account.identityURL = try reader.text(names.identityURL)
    if account.identityURL != nil, account.user == nil {
      throw reader.wrong(names.identityURL, "must end in /id/ORG/USER.")
    }
    self.account = account
  }

  /// The URLs that requests with the tokens go to, with the names of their members.
  var urls: [(member: String, url: String)] {
    [("instanceUrl", account.instanceURL)] + (account.communityURL.map { [("communityUrl", $0)] } ?? [])
  }

  fileprivate static func wrong(_ sentence: String, _ member: String) -> SDKError {
    SDKError(.local, .authenticationSettingsError, sentence, member: member)
  }
}

/// A reader of text members. Empty texts and `null` count as absent.
private struct Reader {
  let members: JSONObject
  let path: String

  func text(_ name: String) throws(SDKError) -> String? {
    guard let value = members[name], !value.isNull else { return nil }
    guard let text = value.stringValue else { throw wrong(name, "must be a string.") }
    return text.isEmpty ? nil : text
  }

  func base(_ name: String) throws(SDKError) -> String? {
    guard let url = try text(name) else { return nil }
    do throws(SDKError) {
      try URLRule.check(url, setting: name)
    } catch {
      throw AuthenticationSettings.wrong(error.message, "\(path).\(name)")
    }
    guard let base = SalesforceText.base(url) else { throw wrong(name, "must have no query and no fragment.") }
    return base
  }

  func token(_ name: String) throws(SDKError) -> Secret? {
    guard let token = try text(name).map({ Secret($0) }) else { return nil }
    guard SalesforceText.isToken(token) else { throw wrong(name, "must be printable ASCII without spaces.") }
    try OpaqueText.check((token, "setting \(name)", "\(path).\(name)"))
    return token
  }

  func identifier(_ name: String) throws(SDKError) -> String? {
    guard let text = try text(name) else { return nil }
    guard SalesforceText.isIdentifier(text) else { throw wrong(name, "must be printable ASCII without spaces.") }
    return text
  }

  func wrong(_ name: String, _ sentence: String) -> SDKError {
    AuthenticationSettings.wrong("The setting \(name) \(sentence)", "\(path).\(name)")
  }
}
