import Foundation
import JSONRPC
import Testing

/// The rows S1 to S11 of the design's table for Support, through the socket, the daemon and real HTTP.
@Suite struct SupportRowTests {
  private static let jwtApp: JSONObject = [
    "app_id": "e5dd7520b178e21212f5cc2751a28f4b5a7dc76698dc79bd", "client_id": "mobile_sdk_client_sandbox_jwt",
  ]
  private static let anonymousApp: JSONObject = [
    "app_id": "e5dd7520b178e21212f5cc2751a28f4b5a7dc76698dc79be", "client_id": "mobile_sdk_client_sandbox_anonymous",
  ]
  /// Alice's unique id, which can't be guessed. The sandbox takes the part before the colon as the user.
  private static let alice = "alice:5d1c7a0e-unique-id-one"
  private static let anna: JSON = ["type": "anonymous", "name": "Anna", "email": "anna@example.test"]

  private func jwt(_ id: String) -> JSON { ["type": "jwt", "token": .string(id)] }

  /// Opens a desk with an instance, and a connection to it.
  private func open(
    _ app: JSONObject, settings: JSONObject = [:], provider: ((Desk) throws -> JSON)? = nil
  ) throws -> (Desk, Line) {
    let desk = try Desk.open()
    let line = try desk.connect()
    let base: JSONObject = ["base_url": .string(try desk.vendor.base("zs"))]
    try desk.create(
      "desk", kind: "zendesk.support", on: line, settings: base.merged(with: app).merged(with: settings),
      provider: try provider?(desk))
    return (desk, line)
  }

  @discardableResult
  private func set(_ identity: JSON, _ line: Line, onChange: String? = nil) throws -> JSON {
    try line.call("support.setIdentity", params(identity, onChange))
  }

  private func refusal(_ identity: JSON, _ line: Line, onChange: String? = nil) throws -> RPCError {
    try line.failure("support.setIdentity", params(identity, onChange))
  }

  private func params(_ identity: JSON, _ onChange: String?) -> JSON {
    var params: JSONObject = ["instance": "desk", "identity": identity]
    params["onChange"] = onChange.map(JSON.string)
    return .object(params)
  }

  private func state(_ line: Line) throws -> String? {
    try line.call("instance.get", ["instance": "desk"])["state"]?.stringValue
  }

  private func token(_ line: Line) throws -> JSON { try line.call("token.get", ["instance": "desk"]) }

  private func identity(_ line: Line) throws -> JSON {
    try line.call("support.getIdentity", ["instance": "desk"])["identity"] ?? .null
  }

  private func reject(_ line: Line) throws {
    try line.call("token.reject", ["instance": "desk", "tokenId": try token(line)["tokenId"] ?? .null])
  }

  private func events(_ line: Line, _ types: String...) throws -> [JSON] {
    let params: JSON = types.isEmpty ? ["limit": 500] : ["limit": 500, "types": .array(types.map(JSON.string))]
    return try line.call("events.list", params)["events"]?.arrayValue ?? []
  }

  private func types(_ line: Line) throws -> [String] { try events(line).compactMap { $0["type"]?.stringValue } }

  /// Returns the paths of the requests to the vendor, oldest first.
  private func paths(_ desk: Desk) throws -> [String] {
    try desk.vendor.log().compactMap { $0["path"]?.stringValue.map { path in path.replacing(/^.*\/zs/, with: "") } }
  }

  /// Returns the bodies of the exchanges so far.
  private func exchanges(_ desk: Desk) throws -> [JSON] {
    try desk.vendor.log().filter { $0["path"]?.stringValue?.contains("/access/sdk/") == true }.map {
      let body = $0["body"] ?? .null
      return body.stringValue.flatMap { try? JSONParser.parse($0) } ?? body
    }
  }

  private func devices(_ desk: Desk) throws -> [JSON] {
    let state = try desk.vendor.request("GET", "/_state")
    return state["zs"]?["devices"]?.arrayValue ?? []
  }

  /// Makes the vendor refuse the access tokens that a user has so far.
  private func revoke(_ user: String, _ desk: Desk) throws {
    try desk.vendor.request("POST", "/_revoke", ["sdk": "zs", "externalId": .string(user)])
  }

  /// Creates a provider that supplies the unique id in a file, and notes each run.
  private func supplier(_ desk: Desk, _ id: String) throws -> JSON {
    try desk.write("id", "{\"uniqueId\": \"\(id)\"}")
    return try desk.provider("echo run >> '\(desk.folder.path)/runs'; cat '\(desk.folder.path)/id'")
  }

  private func runs(_ desk: Desk) -> Int {
    let text = (try? String(contentsOf: desk.folder.appendingPathComponent("runs"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").count
  }

  // MARK: S1

  @Test("An anonymous identity is exchanged with a GUID of its own")
  func S1_anAnonymousIdentityIsExchangedByAGuidOfItsOwn() throws {
    let (desk, line) = try open(Self.anonymousApp)
    #expect(try set(Self.anna, line) == ["changed": true])
    #expect(try paths(desk).last == "/access/sdk/anonymous")
    let user = try exchanges(desk).first?["user"]
    #expect(user?["name"] == "Anna")
    #expect(user?["email"] == "anna@example.test")
    let guid = user?["sdk_guid"]?.stringValue ?? ""
    #expect(UUID(uuidString: guid) != nil)
    let given = try line.call("token.get", ["instance": "desk", "http": true])
    #expect(given["tokenType"] == "accessToken")
    let headers = given["http"]?["headers"]
    #expect(headers?["Authorization"] == .string("Bearer \(given["token"]?.stringValue ?? "")"))
    #expect(headers?["Client-Identifier"] == "mobile_sdk_client_sandbox_anonymous")
    #expect(headers?["Mobile-Sdk-Identity"] == .string(guid))
    let current = try line.call("instance.currentUser", ["instance": "desk"])
    #expect(current["authenticationType"] == "custom")
    #expect(current["authenticated"] == true)
    #expect(current["verified"] == false)
    #expect(current["name"] == "Anna")
    try desk.crash()
    let next = try desk.connect()
    #expect(try token(next)["token"] == given["token"])
    #expect(try identity(next) == Self.anna)
  }

  @Test("Personal data is sent only if the app has given it")
  func S1_nothingPersonalIsSentThatWasNotGiven() throws {
    let (desk, line) = try open(Self.anonymousApp)
    try set(["type": "anonymous", "name": ""], line)
    #expect(try exchanges(desk).first?["user"]?.objectValue?.keys.sorted() == ["sdk_guid"])
    #expect(try identity(line) == ["type": "anonymous"])
  }

  @Test("With the setting coppa, a name or an e-mail address is refused without a request")
  func S1_coppaRefusesNameAndEmailWithoutARequest() throws {
    let (desk, line) = try open(Self.anonymousApp, settings: ["coppa": true])
    for identity: JSON in [["type": "anonymous", "name": "Anna"], ["type": "anonymous", "email": "a@example.test"]] {
      let error = try refusal(identity, line)
      #expect(error.code == -32010)
      #expect(error.reason == "personalDataRefused")
    }
    #expect(try desk.vendor.log().isEmpty)
    #expect(try state(line) == "noUser")
    #expect(try set(["type": "anonymous"], line)["changed"] == true)
  }

  @Test("sdkctl sets, shows and clears the identity")
  func S1_sdkctlSetsShowsAndClearsTheIdentity() throws {
    let (desk, line) = try open(Self.anonymousApp)
    func run(_ verb: String, input: String? = nil) throws -> String {
      let arguments =
        [verb, "desk", "-o", "json"] + (input == nil ? [] : ["--file", try desk.write("in", input ?? "").path])
      let output = desk.folder.appendingPathComponent("out-\(verb)")
      let program = try Program(
        "sdkctl", arguments, environment: ["SDKD_SOCKET": desk.socket], output: output,
        log: desk.folder.appendingPathComponent("err-\(verb)"))
      guard program.exit(within: 60) == 0 else { throw Program.Failure(description: program.logText) }
      return try String(contentsOf: output, encoding: .utf8)
    }
    #expect(try run("login", input: JSONWriter.text(of: Self.anna)).contains("true"))
    #expect(try identity(line) == Self.anna)
    #expect(try run("identity").contains("anna@example.test"))
    _ = try run("logout")
    #expect(try identity(line) == .null)
  }

  // MARK: S2

  @Test("A unique id is verified at the customer's endpoint")
  func S2_aUniqueIdIsVerifiedAtTheCustomersEndpoint() throws {
    let (desk, line) = try open(Self.jwtApp)
    #expect(try set(jwt(Self.alice), line) == ["changed": true])
    #expect(try exchanges(desk) == [["user": ["token": .string(Self.alice)]]])
    let user = try line.call("instance.currentUser", ["instance": "desk"])
    #expect(user["verified"] == true)
    #expect(user["id"]?.stringValue?.isEmpty == false)
    #expect(user["externalId"] == nil)
    let session = try line.call("session.open", ["instance": "desk"])
    #expect(session["visible"] == true)
    #expect(session["token"]?["http"]?["headers"]?["Authorization"] != nil)
    #expect(session["endpoint"]?["appUserId"] == user["id"])
    try desk.crash()
    #expect(try desk.connect().call("instance.currentUser", ["instance": "desk"])["id"] == user["id"])
  }

  @Test("No log, event or response contains the unique id")
  func S2_theUniqueIdIsShownToNobody() throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line)
    let token = try token(line)["token"]?.stringValue ?? "none"
    try desk.vendor.script(["route": "POST /access/sdk/jwt", "status": 401, "times": 1])
    #expect(try refusal(jwt("bob:another-unique-id"), line).reason == "invalidAuth")
    try desk.crash()
    let next = try desk.connect()
    #expect(try identity(next) == ["type": "jwt"])
    let seen =
      [desk.logs, JSONWriter.text(of: .array(try events(next)))]
      + [JSONWriter.text(of: try next.call("instance.get", ["instance": "desk"]))]
    for secret in [Self.alice, "bob:another-unique-id", token] {
      for text in seen { #expect(!text.contains(secret)) }
    }
  }

  @Test(
    "With strict_identifiers, an id that is easy to guess is refused",
    arguments: [
      ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl", "JWT"), ("somebody@example.test", "e-mail"),
      ("short", "16"),
    ])
  func S2_anIdThatIsEasyToGuessIsRefusedWhenStrict(id: String, hint: String) throws {
    let (desk, line) = try open(Self.jwtApp, settings: ["strict_identifiers": true])
    let error = try refusal(jwt(id), line)
    #expect(error.code == -32020)
    #expect(error.reason == "weakIdentifier")
    #expect(error.data["hints"]?.arrayValue?.first?.stringValue?.contains(hint) == true)
    #expect(try desk.vendor.log().isEmpty)
    #expect(try types(line).contains("authenticationFailed"))
    #expect(try identity(line) == .null)
  }

  @Test("The vendor's refusal of a weak id has a hint")
  func S2_aWeakIdIsAHintOfTheVendorsRefusal() throws {
    let (desk, line) = try open(Self.jwtApp)
    let error = try refusal(jwt("nobody"), line)
    #expect(error.code == -32021)
    #expect(error.reason == "invalidAuth")
    #expect(error.data["httpStatus"] == 401)
    #expect(error.data["vendorCode"] == "Couldn't authenticate you")
    #expect(error.data["hints"]?.arrayValue?.count == 1)
    #expect(try events(line, "authenticationFailed").first?["data"]?["hints"]?.arrayValue?.count == 1)
    #expect(try desk.vendor.count("POST", "/access/sdk/jwt") == 1)
  }

  @Test("An empty id is refused without a request", arguments: ["", "   "])
  func S2_anEmptyIdIsNone(id: String) throws {
    let (desk, line) = try open(Self.jwtApp)
    let error = try refusal(jwt(id), line)
    #expect(error.code == -32020)
    #expect(error.reason == "invalidIdentifier")
    #expect(try desk.vendor.log().isEmpty)
  }

  private static let misshapen: [(identity: JSON, member: String)] = [
    (["type": "anonymous", "token": "x"], "identity.token"), (["type": "jwt", "name": "x"], "identity.name"),
    (["type": "jwt", "email": "x"], "identity.email"), (["type": "guest"], "identity.type"),
    (["type": "anonymous", "name": .string(String(repeating: "x", count: 1025))], "identity.name"),
    (["name": "x"], "identity.type"), (["type": "jwt", "tokne": "x"], "identity.tokne"), ("jwt", "identity"),
  ]

  @Test("The error for a malformed identity names the member", arguments: misshapen)
  func S2_anIdentityOfNoShapeNamesTheMember(identity: JSON, member: String) throws {
    let (desk, line) = try open(Self.jwtApp)
    let error = try refusal(identity, line)
    #expect(error.code == -32602)
    #expect(error.data["member"] == .string(member))
    #expect(try desk.vendor.log().isEmpty)
  }

  // MARK: S3

  @Test("The other type is refused, and the settings are fetched once")
  func S3_theOtherTypeIsRefusedAndTheSettingsAreFetchedOnce() throws {
    let (desk, line) = try open(Self.jwtApp)
    for _ in 0..<2 {
      let error = try refusal(Self.anna, line)
      #expect(error.code == -32010)
      #expect(error.reason == "identityMismatch")
    }
    #expect(try paths(desk).count == 1)
    #expect(try state(line) == "noUser")
    try set(jwt(Self.alice), line)
    #expect(try paths(desk).count == 2)
    // The account settings are kept with the identity, and after its end.
    try line.call("support.clearIdentity", ["instance": "desk"])
    try desk.crash()
    let next = try desk.connect()
    try set(jwt(Self.alice), next)
    #expect(try desk.vendor.log().count { $0["method"] == "GET" } == 1)
    // They are read again only before another type is refused, at most once a minute.
    for _ in 0..<2 { #expect(try refusal(Self.anna, next).reason == "identityMismatch") }
    #expect(try desk.vendor.log().count { $0["method"] == "GET" } == 2)
  }

  @Test("An administrator's change of the authentication type is detected, even after a restart")
  func S3_changedType() throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line)
    try line.call("support.clearIdentity", ["instance": "desk"])
    try desk.vendor.request("POST", "/_options", ["sdk": "zs", "authentication": "anonymous"])
    try desk.crash()
    let next = try desk.connect()
    let route = "GET /api/private/mobile_sdk/settings/*"
    try desk.vendor.script(["route": .string(route), "times": 1, "status": 500])
    // Repeated at once, as the error allows: the settings are read again.
    #expect(try refusal(Self.anna, next).reason == "network")
    try set(Self.anna, next)
    #expect(try state(next) == "authenticated")
    #expect(try identity(next)["type"] == "anonymous")
  }

  @Test("The provider is asked for a unique id even if the account took another type before")
  func S10_changedType() throws {
    let (desk, line) = try open(Self.anonymousApp) { try $0.provider("echo '{\"uniqueId\": \"\(Self.alice)\"}'") }
    try set(Self.anna, line)
    try desk.vendor.request("POST", "/_options", ["sdk": "zs", "authentication": "jwt"])
    try desk.crash()
    let next = try desk.connect()
    try set(["type": "jwt"], next)
    #expect(try identity(next)["type"] == "jwt")
  }

  @Test("A login with a weak unique id that the vendor accepts has a hint")
  func S2_weakIdAccepted() throws {
    let (_, line) = try open(Self.jwtApp)
    try set(jwt("alice:weak"), line)
    let hints = try events(line, "userLoggedIn").first?["data"]?["hints"]?.arrayValue
    #expect(hints?.count == 1)
    #expect(hints?.first?.stringValue?.contains("16 characters") == true)
  }

  @Test("A configured authentication type is not fetched")
  func S3_aGivenTypeIsNotFetched() throws {
    let (desk, line) = try open(Self.jwtApp, settings: ["authentication": "anonymous"])
    #expect(try refusal(jwt(Self.alice), line).reason == "identityMismatch")
    #expect(try refusal(["type": "jwt"], line).reason == "identityMismatch")
    #expect(try desk.vendor.log().isEmpty)
  }

  private static let unreadable: [JSON] = [
    ["status": 500], ["status": 404], ["status": 401], ["status": 200, "body": "no JSON"],
    ["status": 200, "body": ["authentication": "sometimes"]], ["status": 200, "closeMidBody": true],
  ]

  @Test(arguments: unreadable)
  func S3_unreadableSettingsAreANetworkFailure(script: JSON) throws {
    let (desk, line) = try open(Self.jwtApp)
    var script = script.objectValue ?? [:]
    script["route"] = "GET /api/private/mobile_sdk/settings/*"
    script["times"] = 1
    try desk.vendor.script(.object(script))
    let error = try refusal(jwt(Self.alice), line)
    #expect(error.code == -32030)
    #expect(error.reason == "network")
    #expect(error.isRetryable)
    #expect(try paths(desk).count == 1)
    #expect(try identity(line) == .null)
    #expect(try types(line).contains("networkError"))
    // The next attempt reads the settings again.
    try set(jwt(Self.alice), line)
  }

  // MARK: S4

  @Test("An agent is refused and never tried again")
  func S4_anAgentIsRefusedAndNeverTriedAgain() throws {
    let (desk, line) = try open(Self.anonymousApp)
    try set(Self.anna, line)
    let agent: JSON = ["type": "anonymous", "email": "agent@example.test"]
    let error = try refusal(agent, line)
    #expect(error.code == -32021)
    #expect(error.reason == "agentNotAllowed")
    #expect(error.data["httpStatus"] == 403)
    #expect(try exchanges(desk).count == 2)
    #expect(try identity(line) == Self.anna)
    #expect(try events(line, "authenticationFailed").count == 1)
    try desk.crash()
    #expect(try identity(try desk.connect()) == Self.anna)
  }

  @Test("A user who became an agent is locked without a further provider run")
  func S4_aUserWhoBecameAnAgentIsLockedWithoutAskingTheProvider() throws {
    let (desk, line) = try open(Self.jwtApp) { try self.supplier($0, Self.alice) }
    try set(["type": "jwt"], line)
    try revoke("alice", desk)
    try desk.vendor.script(["route": "POST /access/sdk/*", "status": 403, "times": "forever"])
    try reject(line)
    try eventually("the identity is locked") { try state(line) == "locked" }
    let before = try exchanges(desk).count
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "locked")
    #expect(try exchanges(desk).count == before)
    #expect(runs(desk) == 1)
    #expect(try events(line, "authenticationFailed").first?["data"]?["httpStatus"] != nil)
  }

  // MARK: S5

  @Test("Before an identity is set, calls fail with noIdentity")
  func S5_nothingWorksBeforeAnIdentityIsSet() throws {
    let (desk, line) = try open(Self.jwtApp)
    for method in ["token.get", "token.refresh", "session.open"] {
      let error = try line.failure(method, ["instance": "desk"])
      #expect(error.code == -32010)
      #expect(error.reason == "noIdentity", "\(method)")
    }
    let endpoint: JSON = ["address": "device-token-1", "type": "fcm"]
    #expect(try line.failure("push.register", ["instance": "desk", "endpoint": endpoint]).reason == "noIdentity")
    #expect(try desk.vendor.log().isEmpty)
    #expect(try identity(line) == .null)
  }

  // MARK: S6

  @Test("The same identity again causes no request")
  func S6_theSameIdentityAgainCostsNoRequest() throws {
    let (desk, line) = try open(Self.anonymousApp)
    try set(Self.anna, line)
    let first = try token(line)["token"]
    let before = try desk.vendor.log().count
    #expect(try set(Self.anna, line) == ["changed": false])
    #expect(try set(Self.anna, line, onChange: "refuse") == ["changed": false])
    try desk.crash()
    let next = try desk.connect()
    #expect(try set(Self.anna, next) == ["changed": false])
    #expect(try desk.vendor.log().count == before)
    #expect(try token(next)["token"] == first)
    #expect(try types(next).count { $0 == "identityChanged" } == 1)
  }

  @Test("A missing member and null are the same")
  func S6_absentAndNullAreTheSame() throws {
    let (desk, line) = try open(Self.anonymousApp)
    try set(["type": "anonymous", "name": "Anna"], line)
    let before = try desk.vendor.log().count
    #expect(try set(["type": "anonymous", "name": "Anna", "email": .null], line)["changed"] == false)
    #expect(try desk.vendor.log().count == before)
    // Space counts: values are not trimmed.
    #expect(try set(["type": "anonymous", "name": "Anna "], line)["changed"] == true)
  }

  @Test("A locked identity is exchanged again and keeps its data")
  func S6_aLockedIdentityIsExchangedAgainAndKeepsItsData() throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line)
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    try lock(desk, line)
    try desk.crash()
    let next = try desk.connect()
    #expect(try state(next) == "locked")
    let outcome = try set(jwt(Self.alice), next)
    #expect(outcome["changed"] == false)
    #expect(outcome["wiped"] == nil)
    #expect(try state(next) == "authenticated")
    #expect(try next.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "alice's")
    #expect(try types(next).contains("identityWiped") == false)
  }

  // MARK: S7

  @Test func S7_anotherIdentityWipesAllStoredData() throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line)
    let former = try token(line)["token"]
    let user = try line.call("instance.currentUser", ["instance": "desk"])["id"]
    for key in ["draft", "tickets"] {
      try line.call("storage.put", ["instance": "desk", "key": .string(key), "value": "alice's"])
    }
    try line.call(
      "push.register", ["instance": "desk", "endpoint": ["address": "alices-device-token", "type": "fcm"]])
    let epoch = try line.call("instance.get", ["instance": "desk"])["storageEpoch"] ?? .null
    let outcome = try set(jwt("bob:another-unique-id"), line)
    #expect(outcome == ["changed": true, "wiped": ["storage": 2, "pushes": 1, "tokens": 1]])
    let wiped = try events(line, "identityWiped").first?["data"]
    #expect(wiped?["storage"] == 2)
    #expect(wiped?["pushes"] == 1)
    #expect(wiped?["tokens"] == 1)
    #expect(try types(line).count { $0 == "identityChanged" } == 2)
    #expect(try events(line, "userLoggedOut").first?["data"]?["cause"] == "switch")
    let old = try line.failure(
      "storage.put", ["instance": "desk", "key": "draft", "value": 1, "storageEpoch": epoch])
    #expect(old.reason == "epochChanged")
    #expect(try token(line)["token"] != former)
    // The device is removed at the vendor with the former user's token.
    try eventually("the device is removed") { try devices(desk).isEmpty }
    // Setting the former identity again restores nothing.
    try set(jwt(Self.alice), line)
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("instance.currentUser", ["instance": "desk"])["id"] == user)
    #expect(try next.call("storage.list", ["instance": "desk"])["keys"] == [])
    #expect(try next.call("push.list", ["instance": "desk"])["pushes"] == [])
  }

  @Test func S7_theFirstIdentityWipesNothing() throws {
    let (_, line) = try open(Self.jwtApp)
    try line.call("storage.put", ["instance": "desk", "key": "early", "value": 1])
    #expect(try set(jwt(Self.alice), line) == ["changed": true])
    #expect(try line.call("storage.get", ["instance": "desk", "key": "early"])["value"] == 1)
    let told = try types(line).filter { $0 != "instanceCreated" }
    #expect(told == ["identityChanged", "userLoggedIn"])
  }

  private static let failures: [(script: JSON, reason: String)] = [
    (["status": 401], "invalidAuth"), (["status": 403], "agentNotAllowed"), (["status": 500], "serverError"),
    (["status": 429], "rateLimited"), (["status": 200, "body": ""], "badResponse"),
    (["status": 200, "body": "no JSON"], "badResponse"), (["passThrough": true, "closeMidBody": true], "network"),
    (["status": 409, "times": 4], "badResponse"),
  ]

  @Test(arguments: failures)
  func S7_aFailedChangeLeavesTheOldIdentityUntouched(script: JSON, reason: String) throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line)
    let former = try token(line)
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    var script = script.objectValue ?? [:]
    script["route"] = "POST /access/sdk/jwt"
    script["times"] = script["times"] ?? 1
    try desk.vendor.script(.object(script))
    #expect(try refusal(jwt("bob:another-unique-id"), line).reason == reason)
    #expect(try types(line).contains("identityWiped") == false)
    try desk.crash()
    let next = try desk.connect()
    #expect(try token(next)["tokenId"] == former["tokenId"])
    #expect(try state(next) == "authenticated")
    #expect(try next.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "alice's")
    // The identity is still the same.
    #expect(try set(jwt(Self.alice), next) == ["changed": false])
  }

  @Test(
    "A malformed user id in the vendor's response is refused",
    arguments: ["word", "fraction", "object", "null", "missing"])
  func S7_aMalformedUserIdIsNoUser(form: String) throws {
    let (desk, line) = try open(Self.jwtApp)
    try desk.vendor.request("POST", "/_options", ["sdk": "zs", "userId": .string(form)])
    #expect(try refusal(jwt(Self.alice), line).reason == "badResponse")
    #expect(try state(line) == "noUser")
    try desk.vendor.request("POST", "/_options", ["sdk": "zs", "userId": "text"])
    try set(jwt(Self.alice), line)
    #expect(try line.call("instance.currentUser", ["instance": "desk"])["id"]?.stringValue?.isEmpty == false)
  }

  @Test("A change that onChange forbids is refused without a request")
  func S7_aRefusedChangeCostsNoRequest() throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line, onChange: "refuse")
    let before = try desk.vendor.log().count
    let error = try refusal(jwt("bob:another-unique-id"), line, onChange: "refuse")
    #expect(error.code == -32010)
    #expect(error.reason == "identityChangeRefused")
    #expect(try desk.vendor.log().count == before)
    #expect(try set(jwt(Self.alice), line) == ["changed": false])
  }

  @Test func S7_aCrashDuringTheExchangeLeavesTheOldIdentity() throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line)
    let former = try token(line)["tokenId"]
    let before = try desk.vendor.log().count
    try desk.vendor.script(["route": "POST /access/sdk/jwt", "passThrough": true, "hang": true, "times": 1])
    line.begin("support.setIdentity", params(jwt("bob:another-unique-id"), nil))
    _ = try desk.vendor.log(atLeast: before + 1)
    try desk.crash()
    try desk.vendor.clearScripts()
    let next = try desk.connect()
    #expect(try token(next)["tokenId"] == former)
    #expect(try set(jwt(Self.alice), next) == ["changed": false])
  }

  @Test func S7_aNewerIdentitySupersedesTheOneInFlight() throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line)
    let before = try desk.vendor.log().count
    try desk.vendor.script(["route": "POST /access/sdk/jwt", "hang": true, "times": 1])
    let late = line.begin("support.setIdentity", params(jwt("bob:another-unique-id"), nil))
    _ = try desk.vendor.log(atLeast: before + 1)
    try set(jwt("carol:a-third-unique-id"), line)
    let error = try line.answer(late)["error"]
    #expect(error?["data"]?["reason"] == "superseded")
    try desk.vendor.clearScripts()
    #expect(try set(jwt("carol:a-third-unique-id"), line) == ["changed": false])
  }

  // MARK: S8

  @Test("A change of any detail makes an anonymous identity another identity")
  func S8_anyDetailOfAnAnonymousIdentityIsAnotherIdentity() throws {
    let (desk, line) = try open(Self.anonymousApp)
    try set(["type": "anonymous", "name": "Anna"], line)
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": 1])
    let changes: [JSON] = [
      Self.anna, ["type": "anonymous", "name": "Anna", "email": "new@example.test"], ["type": "anonymous"],
    ]
    for change in changes {
      #expect(try refusal(change, line, onChange: "refuse").reason == "identityChangeRefused")
      #expect(try set(change, line)["wiped"]?["tokens"] == 1)
    }
    #expect(try line.call("storage.list", ["instance": "desk"])["keys"] == [])
    let guids = try exchanges(desk).compactMap { $0["user"]?["sdk_guid"]?.stringValue }
    #expect(Set(guids).count == 4)
  }

  // MARK: S9

  /// Makes the vendor refuse the access token and the next exchange, and waits until the identity is locked.
  private func lock(_ desk: Desk, _ line: Line, user: String = "alice") throws {
    try desk.vendor.script(["route": "POST /access/sdk/*", "status": 401, "times": 1])
    try revoke(user, desk)
    try reject(line)
    try eventually("the identity is locked") { try state(line) == "locked" }
  }

  @Test func S9_aRefusedTokenIsExchangedAgainWithTheSameIdentity() throws {
    let (desk, line) = try open(Self.anonymousApp)
    try set(Self.anna, line)
    let first = try token(line)
    let user = try line.call("instance.currentUser", ["instance": "desk"])
    try revoke(user["id"]?.stringValue ?? "", desk)
    try reject(line)
    let second = try token(line)
    #expect(second["token"] != first["token"])
    let sent = try exchanges(desk)
    #expect(sent.count == 2)
    #expect(sent.first == sent.last)
    #expect(try line.call("instance.currentUser", ["instance": "desk"]) == user)
    #expect(try types(line).count { $0 == "tokenRefreshed" } == 1)
    #expect(try types(line).contains("authenticationFailed") == false)
    try desk.crash()
    #expect(try token(try desk.connect())["token"] == second["token"])
  }

  @Test func S9_afterARestartATokenThatTheVendorRefusesIsExchangedBeforeASessionOpens() throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line)
    let first = try token(line)["token"]
    try revoke("alice", desk)
    try desk.crash()
    let session = try desk.connect().call("session.open", ["instance": "desk"])
    #expect(session["visible"] == true)
    #expect(session["token"]?["token"] != first)
  }

  @Test func S9_aSecondRefusalLocksAndKeepsTheIdentity() throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line)
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    try lock(desk, line)
    #expect(try events(line, "authenticationFailed").count == 1)
    try desk.crash()
    let next = try desk.connect()
    let before = try desk.vendor.log().count
    #expect(try next.failure("token.get", ["instance": "desk"]).reason == "locked")
    let session = try next.call("session.open", ["instance": "desk"])
    #expect(session["visible"] == false)
    #expect(session["reason"] == "locked")
    #expect(try desk.vendor.log().count == before)
    #expect(try identity(next) == ["type": "jwt"])
    #expect(try next.call("instance.currentUser", ["instance": "desk"])["authenticated"] == false)
    // A caller with the role control unlocks the identity.
    try next.call("token.refresh", ["instance": "desk"])
    #expect(try state(next) == "authenticated")
    #expect(try next.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "alice's")
  }

  @Test("With strict_vendor_wipe, a refused exchange removes the identity and its data")
  func S9_strictVendorWipeWipesAsTheVendorDoes() throws {
    let (desk, line) = try open(Self.jwtApp, settings: ["strict_vendor_wipe": true])
    try set(jwt(Self.alice), line)
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    try desk.vendor.script(["route": "POST /access/sdk/*", "status": 401, "times": 1])
    try revoke("alice", desk)
    try reject(line)
    try eventually("the identity is gone") { try state(line) == "loggedOut" }
    #expect(try identity(line) == .null)
    #expect(try events(line, "userLoggedOut").first?["data"]?["cause"] == "implicit")
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.failure("token.get", ["instance": "desk"]).reason == "noIdentity")
    #expect(try next.call("storage.list", ["instance": "desk"])["keys"] == [])
  }

  @Test("A token that is still valid is kept after a refused exchange")
  func S9_aTokenThatStillLivesOutlivesARefusedExchange() throws {
    let (desk, line) = try open(Self.jwtApp, settings: ["refresh": ["min_interval": 0]])
    try set(jwt(Self.alice), line)
    let first = try token(line)["token"]
    // The customer's endpoint is down: the vendor refuses the exchange, but not the token.
    try desk.vendor.request("POST", "/_options", ["sdk": "zs", "customer": "down"])
    #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "invalidAuth")
    #expect(try token(line)["token"] == first)
    try reject(line)
    #expect(try token(line)["token"] == first)
    #expect(try state(line) == "authenticated")
    #expect(try types(line).contains("authenticationFailed") == false)
  }

  @Test("A conflict is retried up to three times")
  func S9_aConflictIsTriedAgainUpToThreeTimes() throws {
    let (desk, line) = try open(Self.jwtApp)
    try desk.vendor.script(["route": "POST /access/sdk/jwt", "status": 409, "times": 3])
    #expect(try set(jwt(Self.alice), line) == ["changed": true])
    #expect(try exchanges(desk).count == 4)
    try desk.vendor.script(["route": "POST /access/sdk/jwt", "status": 409, "times": "forever"])
    let error = try refusal(jwt("bob:another-unique-id"), line)
    #expect(error.reason == "badResponse")
    #expect(error.data["httpStatus"] == 409)
    #expect(try exchanges(desk).count == 8)
  }

  @Test("An outage neither locks the identity nor runs the provider")
  func S9_anOutageNeitherLocksNorAsksTheProvider() throws {
    let (desk, line) = try open(Self.jwtApp) { try self.supplier($0, Self.alice) }
    try set(["type": "jwt"], line)
    try revoke("alice", desk)
    try desk.vendor.script(["route": "/**", "status": 503, "times": "forever"])
    try reject(line)
    try eventually("the outage is told") { try types(line).contains("networkError") }
    #expect(try identity(line) == ["type": "jwt"])
    #expect(runs(desk) == 1)
    try desk.vendor.clearScripts()
    try line.call("token.refresh", ["instance": "desk"])
    #expect(try state(line) == "authenticated")
    #expect(runs(desk) == 1)
  }

  // MARK: S10

  @Test func S10_theProviderSuppliesTheUniqueId() throws {
    let (desk, line) = try open(Self.jwtApp) { try self.supplier($0, Self.alice) }
    #expect(try set(["type": "jwt"], line) == ["changed": true])
    #expect(try exchanges(desk) == [["user": ["token": .string(Self.alice)]]])
    let before = try desk.vendor.log().count
    #expect(try set(["type": "jwt"], line) == ["changed": false])
    #expect(try desk.vendor.log().count == before)
    #expect(runs(desk) == 1)
    try desk.crash()
    #expect(try set(["type": "jwt"], try desk.connect()) == ["changed": false])
    #expect(!desk.logs.contains(Self.alice))
  }

  @Test func S10_aRefusedUniqueIdIsReplacedWithoutAWipe() throws {
    let (desk, line) = try open(Self.jwtApp) { try self.supplier($0, Self.alice) }
    try set(["type": "jwt"], line)
    let user = try line.call("instance.currentUser", ["instance": "desk"])
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    let next = "alice:88aa41f2-unique-id-two"
    try desk.write("id", "{\"uniqueId\": \"\(next)\"}")
    try desk.vendor.request("POST", "/_options", ["sdk": "zs", "refusedIds": [.string(Self.alice)]])
    try revoke("alice", desk)
    try reject(line)
    #expect(try token(line)["fromCache"] != nil)
    #expect(try state(line) == "authenticated")
    let sent = try exchanges(desk).compactMap { $0["user"]?["token"]?.stringValue }
    #expect(sent == [Self.alice, Self.alice, next])
    #expect(runs(desk) == 2)
    #expect(try line.call("instance.currentUser", ["instance": "desk"]) == user)
    try desk.crash()
    let line2 = try desk.connect()
    #expect(try line2.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "alice's")
    #expect(try types(line2).contains("identityWiped") == false)
  }

  @Test func S10_aUniqueIdOfAnotherUserIsRefused() throws {
    let (desk, line) = try open(Self.jwtApp) { try self.supplier($0, Self.alice) }
    try set(["type": "jwt"], line)
    let user = try line.call("instance.currentUser", ["instance": "desk"])["id"]
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    try desk.write("id", "{\"uniqueId\": \"bob:another-unique-id\"}")
    try desk.vendor.request("POST", "/_options", ["sdk": "zs", "refusedIds": [.string(Self.alice)]])
    try revoke("alice", desk)
    try reject(line)
    try eventually("it is told") { try types(line).contains("authenticationFailed") }
    let failed = try events(line, "refreshFailed")
    #expect(failed.map { $0["data"]?["reason"] } == ["providerTokenForOtherUser"])
    #expect(try state(line) == "reauthNeeded")
    try desk.crash()
    let next = try desk.connect()
    #expect(try refusal(["type": "jwt"], next).reason == "providerTokenForOtherUser")
    #expect(try next.call("instance.currentUser", ["instance": "desk"])["id"] == user)
    #expect(try next.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "alice's")
    #expect(try types(next).contains("identityWiped") == false)
  }

  @Test("A failing provider neither locks the identity nor signs the user out")
  func S10_aFailingProviderNeitherLocksNorSignsOut() throws {
    let (desk, line) = try open(Self.jwtApp, settings: ["strict_vendor_wipe": true]) {
      try self.supplier($0, Self.alice)
    }
    try set(["type": "jwt"], line)
    try desk.write("id", "{\"uniqueId\": \"\"}")
    try desk.vendor.request("POST", "/_options", ["sdk": "zs", "refusedIds": [.string(Self.alice)]])
    try revoke("alice", desk)
    try reject(line)
    try eventually("it is told") { try types(line).contains("authenticationFailed") }
    #expect(try state(line) == "reauthNeeded")
    try desk.crash()
    let next = try desk.connect()
    #expect(try state(next) == "reauthNeeded")
    let session = try next.call("session.open", ["instance": "desk"])
    #expect(session["reason"] == "reauthNeeded")
    // A refresh ends the state once the provider supplies a unique id again.
    try desk.write("id", "{\"uniqueId\": \"alice:88aa41f2-unique-id-two\"}")
    try next.call("token.refresh", ["instance": "desk"])
    #expect(try state(next) == "authenticated")
  }

  @Test("Without a provider, an identity without a unique id is refused")
  func S10_withoutAProviderThereIsNoUniqueId() throws {
    let (desk, line) = try open(Self.jwtApp)
    #expect(try refusal(["type": "jwt"], line).reason == "noProvider")
    #expect(try desk.vendor.log().isEmpty)
    #expect(try identity(line) == .null)
  }

  @Test(
    "A provider that supplies no unique id changes nothing",
    arguments: [
      ("echo '{\"proceed\": true}'", "providerOutputInvalid"), ("exit 77", "providerDenied"),
      ("exit 1", "providerFailed"), ("true", "providerOutputInvalid"),
      ("echo '{\"uniqueId\": \" \"}'", "providerOutputInvalid"),
    ])
  func S10_aProviderThatSuppliesNothingChangesNothing(script: String, reason: String) throws {
    let (desk, line) = try open(Self.jwtApp) { try $0.provider(script) }
    try set(jwt(Self.alice), line)
    let former = try token(line)["tokenId"]
    let before = try desk.vendor.log().count
    #expect(try refusal(["type": "jwt"], line).reason == reason)
    #expect(try desk.vendor.log().count == before)
    try desk.crash()
    #expect(try token(try desk.connect())["tokenId"] == former)
  }

  @Test("A newer identity supersedes one that waits for the provider")
  func S10_aNewerIdentitySupersedesTheOneThatWaitsForTheProvider() throws {
    let (desk, line) = try open(Self.jwtApp) { desk in
      try desk.provider(
        "echo run >> '\(desk.folder.path)/runs'; while [ ! -e '\(desk.folder.path)/go' ]; do sleep 0.02; done; "
          + "echo '{\"uniqueId\": \"\(Self.alice)\"}'")
    }
    let waiting = line.begin("support.setIdentity", params(["type": "jwt"], nil))
    try eventually("the provider runs") { runs(desk) == 1 }
    try set(jwt("bob:another-unique-id"), line)
    try desk.write("go", "")
    #expect(try line.answer(waiting)["error"]?["data"]?["reason"] == "superseded")
    #expect(try set(jwt("bob:another-unique-id"), line) == ["changed": false])
  }

  // MARK: S11

  @Test func S11_clearingUnregistersPushAndWipes() throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line)
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    for address in ["device-token-1", "device-token-2"] {
      try line.call(
        "push.register",
        ["instance": "desk", "endpoint": ["address": .string(address), "type": "apns", "locale": "de-DE"]])
    }
    #expect(try devices(desk).count == 2)
    #expect(try line.call("support.clearIdentity", ["instance": "desk"]) == [:])
    #expect(try state(line) == "loggedOut")
    #expect(try identity(line) == .null)
    #expect(try line.failure("token.get", ["instance": "desk"]).reason == "noIdentity")
    try eventually("the devices are removed") { try devices(desk).isEmpty }
    #expect(try types(line).count { $0 == "identityWiped" } == 1)
    // Clearing again changes nothing.
    #expect(try line.call("support.clearIdentity", ["instance": "desk"]) == [:])
    #expect(try types(line).count { $0 == "identityWiped" } == 1)
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("support.clearIdentity", ["instance": "desk"]) == [:])
    #expect(try next.call("storage.list", ["instance": "desk"])["keys"] == [])
    #expect(try next.call("push.list", ["instance": "desk"])["pushes"] == [])
  }

  @Test func S11_aDeviceThatCannotBeRemovedNowIsRemovedLater() throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line)
    try line.call("push.register", ["instance": "desk", "endpoint": ["address": "device-token-1", "type": "fcm"]])
    try desk.vendor.script(["route": "DELETE /api/mobile/**", "status": 503, "times": "forever"])
    try line.call("support.clearIdentity", ["instance": "desk"])
    try eventually("it is pending") {
      try line.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue?.first?["purpose"] == "unregisterPush"
    }
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue?.count == 1)
    try desk.vendor.clearScripts()
    try eventually("the device is removed", within: 30) { try devices(desk).isEmpty }
    try eventually("nothing is pending") {
      try (next.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue ?? []).isEmpty
    }
  }

  @Test func S11_aRefusedTokenIsRenewedForAPushRegistration() throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line)
    try revoke("alice", desk)
    let id = try line.call(
      "push.register", ["instance": "desk", "endpoint": ["address": "device-token-1", "type": "fcm"]])["id"]
    #expect(try devices(desk).count == 1)
    #expect(try types(line).contains("tokenRefreshed"))
    try revoke("alice", desk)
    try line.call("push.unregister", ["instance": "desk", "id": id ?? .null])
    #expect(try devices(desk).isEmpty)
    #expect(try line.call("push.list", ["instance": "desk"])["pushes"] == [])
  }

  @Test func S11_clearingWorksWhileLockedAndWhileTheVendorIsDown() throws {
    let (desk, line) = try open(Self.jwtApp)
    try set(jwt(Self.alice), line)
    try lock(desk, line)
    try desk.vendor.script(["route": "/**", "status": 503, "times": "forever"])
    try line.call("support.clearIdentity", ["instance": "desk"])
    #expect(try state(line) == "loggedOut")
    #expect(try identity(line) == .null)
  }
}
