import JSONRPC
import Linux
import SDKInstances
import SDKProtocol

/// A client for the vendor, which builds paths, headers and bodies of requests and sends them.
struct SalesforceWire: Sendable {
  let settings: SalesforceSettings
  let common: CommonSettings
  let services: AdapterServices

  /// Returns the URL for refreshing and revoking an account's tokens.
  func loginURL(_ account: SalesforceAccount) -> String { settings.loginURL ?? account.loginURL }

  /// `POST /services/oauth2/token`: requests a new access token with a refresh token.
  ///
  /// - Throws: the errors of an unreachable vendor; `invalidAuthParameters` for an unusable secret file.
  func refresh(_ token: Secret, of account: SalesforceAccount) async throws(SDKError) -> SalesforceAnswer {
    var fields = [
      (name: "grant_type", value: Secret("refresh_token")),
      (name: "client_id", value: Secret(account.clientId ?? settings.clientId)), (name: "refresh_token", value: token),
    ]
    var sent = [token]
    var base = loginURL(account)
    if let secret = try clientSecret(of: account) {
      base = try secretURL(account)
      fields.append((name: "client_secret", value: secret))
      sent.append(secret)
    }
    return try await post("\(base)/services/oauth2/token", fields, secrets: sent)
  }

  /// The vendor's own login hosts. They are known in advance, so that nobody else can supply them.
  private static let loginHosts = ["login.salesforce.com", "test.salesforce.com"]

  /// The values of `login_url` that error messages name.
  static let loginExamples = "https://\(loginHosts[0]), https://\(loginHosts[1]) or your My Domain"

  /// Returns the URL for requests with the connected app's secret: `login_url`, or the root of one of the vendor's login
  /// hosts. The account's URLs were supplied by others, who could read the secret there.
  private func secretURL(_ account: SalesforceAccount) throws(SDKError) -> String {
    if let loginURL = settings.loginURL { return loginURL }
    let origin = URLRule.Origin(account.loginURL)
    for host in Self.loginHosts where origin == URLRule.Origin("https://\(host)") { return "https://\(host)" }
    throw SDKError(
      .local, .invalidAuthParameters,
      "The connected app's secret is sent to login_url only, which is not set; set it to \(Self.loginExamples).",
      member: "login_url")
  }

  /// Checks the URL to which the vendor moves an account. It may lead wherever outsiders may lead, and to the origin
  /// where the account is.
  func checkMove(of account: SalesforceAccount, to url: String) throws(SDKError) {
    do throws(SDKError) {
      try services.supplied.check(url, what: "instance_url")
    } catch {
      guard error.reason == .accessDenied, URLRule.Origin(url) == URLRule.Origin(account.instanceURL) else {
        throw error
      }
    }
  }

  /// `POST /services/oauth2/revoke`: revokes a token. The access tokens of a refresh token end with it.
  func revoke(_ token: Secret, at loginURL: String) async throws(SDKError) {
    let fields = [(name: "token", value: token), (name: "revoke_reason", value: Secret("user_logout"))]
    try await post("\(loginURL)/services/oauth2/revoke", fields, secrets: [token]).checkRevoked()
  }

  /// `GET /services/oauth2/userinfo`: checks an access token.
  ///
  /// - Returns: the user of the token, if the response names one.
  func userInfo(_ token: Secret, at instanceURL: String) async throws(SDKError) -> SalesforceUserID? {
    let answer = try await send("GET", "\(instanceURL)/services/oauth2/userinfo", bearer: token)
    let json = try answer.resource(isIdentityService: true)
    guard let user = json["user_id"]?.stringValue, let organization = json["organization_id"]?.stringValue else {
      return nil
    }
    return SalesforceUserID(organization: organization, user: user)
  }

  /// `POST sobjects/MobilePushServiceDevice`: registers a device, and returns its id at the vendor.
  func createDevice(_ fields: JSONObject, token: Secret, at instanceURL: String) async throws(SDKError) -> String {
    let body = JSONWriter.bytes(of: .object(fields))
    let address = fields["ConnectionToken"]?.stringValue.map { Secret($0) }
    let answer = try await send(
      "POST", devices(instanceURL), bearer: token, body: ("application/json", body),
      secrets: address.map { [$0] } ?? [])
    guard let id = try answer.resource()["id"]?.stringValue, TextLimits.isID(id), SalesforceText.isIdentifier(id) else {
      throw SDKError(
        .unreachable, .badResponse, "Salesforce registered the device but gave it no id; register it again.")
    }
    return id
  }

  /// `DELETE sobjects/MobilePushServiceDevice/{id}`: removes a device.
  func deleteDevice(_ id: String, token: Secret, at instanceURL: String) async throws(SDKError) {
    let url = "\(devices(instanceURL))/\(PercentEncoding.segment(id))"
    let answer = try await send("DELETE", url, bearer: token)
    // The body of a success does not matter.
    if !answer.isSuccess { _ = try answer.resource() }
  }

  private func devices(_ instanceURL: String) -> String {
    "\(instanceURL)/services/data/\(settings.apiVersion)/sobjects/MobilePushServiceDevice"
  }

  /// Returns the secret of the instance's own connected app; `nil` for another app, whose secret is unknown.
  private func clientSecret(of account: SalesforceAccount) throws(SDKError) -> Secret? {
    guard account.clientId == nil || account.clientId == settings.clientId else { return nil }
    if let path = settings.clientSecretFile { return try SecretFile.read(path, setting: "client_secret_file") }
    return settings.clientSecret
  }

  private func post(
    _ url: String, _ fields: [(name: String, value: Secret)], secrets: [Secret]
  ) async throws(SDKError) -> SalesforceAnswer {
    try await send(
      "POST", url, bearer: nil, body: ("application/x-www-form-urlencoded", PercentEncoding.form(fields)),
      secrets: secrets)
  }

  /// - Parameter secrets: the secrets in the body.
  private func send(
    _ method: String, _ url: String, bearer: Secret?, body: (type: String, bytes: [UInt8])? = nil,
    secrets: [Secret] = []
  ) async throws(SDKError) -> SalesforceAnswer {
    var headers = [(name: "Accept", value: "application/json"), (name: "User-Agent", value: SalesforceWire.userAgent)]
    if let bearer { headers.append((name: "Authorization", value: "Bearer \(bearer.reveal())")) }
    if let body { headers.append((name: "Content-Type", value: body.type)) }
    let request = HTTPRequestParts(
      instance: services.instance, method: method, url: url, headers: headers, body: body?.bytes,
      secrets: secrets + (bearer.map { [$0] } ?? []), timeout: common.timeout, caFile: common.caFile,
      isRepeatable: method == "GET")
    do throws(HTTPFailure) {
      return SalesforceAnswer(try await services.send(request))
    } catch {
      throw error.error(vendor: SalesforceAnswer.vendor, setting: "login_url and instanceUrl")
    }
  }

  private static let userAgent = "sdkd/\(SDKVersion.program)"
}

/// A secret in a file that only its owner and the daemon can read.
enum SecretFile {
  /// The maximum size of a file, in bytes. The secrets of connected apps are shorter.
  private static let limit = 4096

  /// Returns the secret in a file without line ends after it.
  ///
  /// - Throws: `invalidAuthParameters` for a file that can't be read, that others can read, or that holds no secret.
  static func read(_ path: String, setting: String) throws(SDKError) -> Secret {
    func refused(_ why: String) -> SDKError {
      SDKError(.local, .invalidAuthParameters, "The file of \(setting) \(why).", member: setting)
    }
    let file: BoundedFile
    do throws(FileProblem) {
      file = try BoundedFile(reading: path, limit: limit)
      guard !file.mode.isReadableByOthers else { throw .readableByOthers }
    } catch {
      throw refused(error.description)
    }
    let secret: Secret
    do { secret = try Secret(fileContent: file.bytes) } catch { throw refused(error.description) }
    guard SalesforceText.isToken(secret) else { throw refused("holds no secret: printable, on one line") }
    return secret
  }
}
