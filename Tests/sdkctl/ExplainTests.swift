import Foundation
import JSONRPC
import SDKProtocol
import Testing

@testable import sdkctl

/// `sdkctl explain` and the page of all errors.
struct ExplainTests {
  private let run = Run()

  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The contract as it is in the package.
  static func document() throws -> JSON {
    try JSONParser.parse(
      String(contentsOf: root.appendingPathComponent("Packaging/openrpc.json"), encoding: .utf8))
  }

  private func explain(_ topic: String) async throws -> String {
    let document = try Self.document()
    let run = Run()
    #expect(await run.status("explain", topic) { _, _ in document } == 0, "\(topic): \(run.errors)")
    return run.output
  }

  @Test("The page of errors has the tables that the code gives")
  func page() throws {
    let page = try String(
      contentsOf: Self.root.appendingPathComponent("Packaging/documentation/errors.md"), encoding: .utf8)
    let tables = ErrorReference(document: try Self.document()).markdown
    #expect(page.hasSuffix("\n\n" + tables), "put in what sdkctl explain --reference prints")
  }

  @Test("The operator's guide has the table of the daemon's checks, and the table has each check in the sources")
  func checks() throws {
    let page = try String(
      contentsOf: Self.root.appendingPathComponent("Packaging/documentation/operator-guide/states.md"), encoding: .utf8)
    #expect(page.contains("\n\n" + CheckEntry.markdown + "\n"), "put in what sdkctl explain --checks prints")
    let pattern = /name: "(\w+)",\s+status: [^,)]*\.(?:ok|degraded|failing)/
    var found: Set<String> = []
    for folder in ["Sources/sdkd", "Sources/SDKInstances"] {
      let names = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appendingPathComponent(folder).path)
      for name in names where name.hasSuffix(".swift") {
        let file = Self.root.appendingPathComponent("\(folder)/\(name)")
        found.formUnion(try String(contentsOf: file, encoding: .utf8).matches(of: pattern).map { String($0.1) })
      }
    }
    #expect(found == Set(CheckEntry.all.map(\.name)))
    for entry in CheckEntry.all {
      #expect(!(entry.cause + entry.callers + (entry.remedy ?? "")).contains { "|\n".contains($0) }, "\(entry.name)")
    }
  }

  @Test("The words of the health are explained without a daemon")
  func health() async throws {
    let fails: @Sendable (String, JSON) throws -> JSON = { _, _ in throw SDKError(.store, .keyMissing, "No.").rpcError }
    func explain(_ topic: String) async -> String {
      let run = Run()
      #expect(await run.status("explain", topic, answer: fails) == 0, "\(topic): \(run.errors)")
      return run.output
    }
    let degraded = await explain("degraded")
    #expect(degraded.contains("Something does not work, but calls are served."), "\(degraded)")
    #expect(degraded.contains("sdkctl status names the check, sdkctl doctor what to do."), "\(degraded)")
    #expect(await explain("health").contains("setAside"))
    #expect(await explain("failing").contains("health"))
    for name in Set(CheckEntry.all.map(\.name)) { #expect(await explain(name).contains("callers"), "\(name)") }
    #expect(await explain("vendorClocks").contains("timedatectl set-ntp true"))
    #expect(Topics(document: [:]).names.flatMap(\.names).contains("vendorClocks"), "the words of the completion")
  }

  @Test("Each reason has its codes, as the sources use it")
  func codes() throws {
    let pattern = /(?:SDKError|\.init)\(\s*\.(\w+),\s*\.(\w+)/
    let sources = Self.root.appendingPathComponent("Sources")
    var count = 0
    for case let file as URL in FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil) ?? .init()
    {
      guard file.pathExtension == "swift" else { continue }
      for match in try String(contentsOf: file, encoding: .utf8).matches(of: pattern) {
        guard let reason = Reason(rawValue: String(match.output.2)) else { continue }
        let names = reason.guide.origins.map { "\($0)" }
        #expect(names.contains(String(match.output.1)), "\(file.lastPathComponent): \(match.output.0)")
        count += 1
      }
    }
    #expect(count > 60)
  }

  @Test("Each reason that sdkctl prints is explained")
  func reasonsOfTheCommand() throws {
    let pattern = /reason: (?:[^",\n]+ \? )?"(\w+)"(?: : "(\w+)")?/
    let known = Set(ReasonEntry.all.map(\.name))
    let sources = Self.root.appendingPathComponent("Sources/sdkctl")
    var found: Set<String> = []
    for case let file as URL in FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil) ?? .init()
    {
      guard file.pathExtension == "swift" else { continue }
      for match in try String(contentsOf: file, encoding: .utf8).matches(of: pattern) {
        found.formUnion([match.output.1, match.output.2].compactMap { $0.map(String.init) })
      }
    }
    #expect(found.subtracting(known).isEmpty, "sdkctl explain does not know \(found.subtracting(known).sorted())")
    #expect(found.count > 20)
  }

  @Test("The exit statuses are those that sdkctl exits with")
  func statuses() throws {
    let entries = Dictionary(uniqueKeysWithValues: ReasonEntry.all.map { ($0.name, $0) })
    #expect(entries.count == ReasonEntry.all.count)
    #expect(entries["reauthNeeded"]?.statuses == [6])
    #expect(entries["network"]?.statuses == [75] && entries["network"]?.retry == .yes)
    #expect(entries["storeUnavailable"]?.statuses == [75, 1])
    #expect(entries["expiredJWT"]?.codes == [-32020, -32021] && entries["expiredJWT"]?.statuses == [1, 6])
    for entry in ReasonEntry.all {
      #expect(!entry.cause.isEmpty && !entry.remedy.isEmpty, "\(entry.name)")
      #expect(entry.cause.hasSuffix("."), "\(entry.name)")
      #expect(Sentence.allCases.flatMap(\.reasons).contains(entry.name), "\(entry.name) has no sentence for people")
    }
  }

  @Test("Reasons, states, methods, events, kinds and settings are explained")
  func topics() async throws {
    #expect(try await explain("providerBackoff").contains("sdkctl refresh ID"))
    let both = try await explain("reauthNeeded")
    #expect(both.contains("reason") && both.contains("state"), "\(both)")
    let method = try await explain("token.get")
    #expect(method.contains("minTTL?"))
    #expect(method.split(separator: " ").count { $0 == "expiredJWT" } == 1, "\(method)")
    #expect(try await explain("instanceUpdated").contains("access: Access; the new access rules"))
    #expect(try await explain("shortLived").contains("--min-ttl"))
    #expect(try await explain("zendesk.chat").contains("account_key"))
    #expect(try await explain("refresh.margin").contains("zendesk.chat refresh.margin"))
    #expect(try await explain("noDaemon").contains("exit"))
    #expect(try await explain("zendesk.chat").contains("chat.resetIdentity chat.setIdentity"))
  }

  @Test("A method has its example, a kind what login reads, a shape its members, a status its reasons")
  func examples() async throws {
    let authorize = try await explain("chatCenter.authorize")
    #expect(authorize.contains(#""identifier": "user-alice-7f3a""#) && authorize.contains(#""verified": true"#))
    for kind in JWTAudience.allCases.map(\.rawValue) {
      let text = try await explain(kind)
      #expect(text.contains("login "), "\(text)")
      // A kind that takes either of two sets of settings requires no setting.
      let settings = try Self.document()["x-kinds"]?.arrayValue?.first { $0["name"]?.stringValue == kind }?["settings"]
      let required = settings?["required"]?.arrayValue ?? []
      #expect(text.contains(" (required): ") == !required.isEmpty, "\(text)")
    }
    #expect(try await explain("zendesk.messaging").contains("sdkctl login front-desk < FILE"))
    #expect(try await explain("zendesk.chat").contains("eyJ"))
    let user = try await explain("ChatUser")
    #expect(user.contains("identifier: secret; ") && user.contains("name?: ") && user.contains("chatCenter.authorize"))
    #expect(user.contains("example ") && user.contains(#""identifier": "user-alice-7f3a""#), "\(user)")
    #expect(try await explain("75").contains("providerBackoff"))
    let document = try Self.document()
    let json = Run()
    #expect(await json.status("explain", "token.get", "--json") { _, _ in document } == 0)
    #expect(try JSONParser.parse(json.output).arrayValue?.first?["example"]?["instance"] == "front-desk")
  }

  @Test("The example of a shape is the fullest value that the examples of methods have of it")
  func shapeExamples() throws {
    let document = try Self.document()
    let examples = ShapeExamples(document)
    #expect(examples["User"]?["externalId"] != nil && examples["User"]?["since"] != nil)
    #expect(examples["ChatAuth"] == ["token": "edna-token-of-alice"])
    #expect(examples["SupportIdentity"]?["type"] == "jwt")
    #expect(examples["DelegateFailure"]?["httpStatus"] == 400 && examples["DelegateGuestAnswer"]?["proceed"] == false)
    // Of several choices the one that fits.
    for (name, schema) in document["components"]?["schemas"]?.objectValue?.members.map({ ($0.key, $0.value) }) ?? [] {
      guard let word = schema["properties"]?["type"]?["const"], let example = examples[name] else { continue }
      #expect(example["type"] == word, "\(name)")
    }
    let names = document["components"]?["schemas"]?.objectValue?.keys ?? []
    #expect(names.count { examples[$0] != nil } > 60)
    // A shape can contain itself.
    let knot: JSON = [
      "methods": [
        [
          "params": [["name": "a", "schema": ["$ref": "#/components/schemas/A"]]], "result": ["schema": [:]],
          "examples": [["params": [["name": "a", "value": ["b": ["b": [:]]]]]]],
        ]
      ],
      "components": [
        "schemas": [
          "A": ["allOf": [["$ref": "#/components/schemas/B"]]],
          "B": [
            "oneOf": [["$ref": "#/components/schemas/A"], ["properties": ["b": ["$ref": "#/components/schemas/A"]]]]
          ],
        ]
      ],
    ]
    #expect(ShapeExamples(knot)["A"]?["b"] != nil)
  }

  @Test(
    "The sentence for people is shown in the language of the option",
    arguments: [
      (nil as String?, "Please sign in again."), ("de", "Bitte melden Sie sich noch einmal an."),
      ("fr_CA.UTF-8", "Veuillez vous connecter"), ("ES", "Inicie sesión de nuevo"),
      ("ru", "Пожалуйста, выполните вход ещё раз."),
    ])
  func languages(_ language: String?, _ sentence: String) async {
    let run = Run()
    let option = language.map { ["--language", $0] } ?? []
    #expect(await run.status(["explain", "reauthNeeded"] + option) { _, _ in [:] } == 0, "\(run.errors)")
    #expect(run.output.contains(sentence), "\(run.output)")
  }

  @Test("A language without sentences is refused, and the others are named")
  func unknownLanguage() async {
    #expect(await run.status("explain", "locked", "--language", "tlh") { _, _ in [:] } == 2)
    #expect(run.errors.contains("'tlh'") && run.errors.contains("one of: en, de, fr, es, ru"), "\(run.errors)")
  }

  @Test("Strings that are secrets are marked in the document, and explained as secrets")
  func secrets() throws {
    let schemas = try #require(Self.document()["components"]?["schemas"])
    for (shape, member) in [
      ("Token", "token"), ("ChatUser", "identifier"), ("ChatAuth", "token"), ("ChatAuth", "signature"),
      ("SupportIdentity", "token"), ("AuthenticationSettings", "accessToken"),
      ("AuthenticationSettings", "refreshToken"), ("DelegateTokenAnswer", "token"), ("PushEndpoint", "address"),
    ] {
      #expect(schemas[shape]?["properties"]?[member]?["format"] == "password", "\(shape).\(member)")
    }
    for member in ["headers", "cookies"] {
      let values = schemas["TokenHTTP"]?["properties"]?[member]?["additionalProperties"]
      #expect(values?["format"] == "password", "\(member)")
    }
    #expect(schemas["JWT"]?["format"] == "password")
    #expect(Topics.type(of: schemas["Token"]?["properties"]?["token"]) == "secret")
  }

  @Test("Reasons and states need no daemon, and an unknown topic comes with the nearest")
  func withoutDaemon() async throws {
    let fails: @Sendable (String, JSON) throws -> JSON = { _, _ in throw SDKError(.store, .keyMissing, "No.").rpcError }
    #expect(await run.status("explain", "locked", "-o", "json", answer: fails) == 0)
    let found = try JSONParser.parse(run.output).arrayValue ?? []
    #expect(found.map { $0["type"]?.stringValue } == ["reason", "state"])
    let wrong = Run()
    #expect(await wrong.status("explain", "expiredJTW", answer: fails) == 2)
    #expect(wrong.errors.contains("did you mean expiredJWT?"))
    let part = Run()
    #expect(await part.status("explain", "reauth", answer: fails) == 2)
    #expect(part.errors.contains("did you mean reauthNeeded?"), "\(part.errors)")
  }

  /// Names of the SDKs' own APIs, with what each leads to.
  static let names = [
    ("initialize", "instance.create"), ("invalidate", "instance.delete"), ("loginUser", "messaging.loginUser"),
    ("Zendesk.instance?.loginUser", "messaging.loginUser"), ("logoutUser", "messaging.logoutUser"),
    ("getCurrentUser", "messaging.getCurrentUser"), ("authenticationDelegate", "delegate.attach"),
    ("AuthenticationDelegate", "delegate.attach"), ("onInvalidAuth", "delegate.invalidAuth"),
    ("addEventObserver", "events.subscribe"), ("updatePushNotificationToken", "push.register"),
    ("setIdentity", "support.setIdentity"), ("setIdentity", "chat.setIdentity"),
    ("createAnonymous", "support.setIdentity"), ("createJwt", "support.setIdentity"),
    ("setAuthenticationSettings", "serviceChat.setAuthenticationSettings"),
    ("shouldAuthenticateServiceType", "delegate.shouldAuthenticate"),
    ("authenticationFailed", "delegate.authenticationFailed"), ("JWTAuthenticator", "delegate.getToken"),
    ("getToken", "chat.setIdentity"), ("resetIdentity", "chat.resetIdentity"),
    ("NotificationAuthenticationFailed", "events.subscribe"), ("registerPushToken", "wrongKind"),
    ("authorize", "chatCenter.authorize"), ("didReceiveNetwork", "networkError"), ("logout", "chatCenter.logout"),
    ("deauthorizeUser", "chatCenter.deauthorizeUser"), ("updateData", "chatCenter.updateData"),
    ("prefill", "chatCenter.prefill"), ("getChat", "chatCenter.getChat"), ("jwtauthenticator", "delegate.getToken"),
  ]

  @Test("A name of an SDK's own API leads to what takes its place", arguments: names)
  func sdkCalls(_ name: String, _ method: String) async throws {
    let text = try await explain(name.split(separator: "?.").last.map(String.init) ?? name)
    #expect(text.contains("SDK call") && text.contains(method) && text.contains("difference"), "\(text)")
  }

  @Test("A question of a delegate is explained, and a word near a method leads to it")
  func questionsAndHints() async throws {
    let question = try await explain("delegate.getToken")
    #expect(question.contains("question") && question.contains("DelegateTokenAnswer"), "\(question)")
    #expect(question.contains(#""question": "getToken""#) && question.contains(#""token": "eyJ"#), "\(question)")
    let document = try Self.document()
    for (word, hint) in [
      ("attach", "delegate.attach"), ("unregister", "push.unregister"), ("detach", "delegate.detach"),
      ("shouldAuthenticate", "delegate.shouldAuthenticate"), ("deauthorise", "deauthorizeUser"),
      ("getTokn", "getToken"), ("tokn", "Token"), ("ChatUsr", "ChatUser"),
    ] {
      let run = Run()
      #expect(await run.status("explain", word) { _, _ in document } == 2)
      #expect(run.errors.contains("did you mean \(hint)"), "\(word): \(run.errors)")
    }
  }

  @Test("Each row names what exists, and each method of a kind has a row")
  func sdkTables() throws {
    let document = try Self.document()
    let methods = document["methods"]?.arrayValue ?? []
    let names = Set((methods + (document["x-requests"]?.arrayValue ?? [])).compactMap { $0["name"]?.stringValue })
    for call in SDKCall.all {
      #expect(names.isSuperset(of: call.methods), "\(call.names)")
      #expect(call.difference.hasSuffix(".") && !call.difference.contains("\n"), "\(call.names)")
    }
    for method in methods {
      guard let kind = method["x-sdkd"]?["kind"]?.stringValue, let name = method["name"]?.stringValue else { continue }
      // Neither has a counterpart in its SDK.
      if ["support.clearIdentity", "serviceChat.getAuthenticationSettings"].contains(name) { continue }
      #expect(SDKCall.all.contains { $0.kind == kind && $0.methods.contains(name) }, "\(name)")
    }
  }

  @Test("The methods of a reason are those that declare it")
  func methods() {
    let reference = ErrorReference(document: [
      "methods": [
        ["name": "a.one", "errors": [["$ref": "#/components/errors/x"]]], ["name": "a.two", "errors": []],
        ["name": "b.one", "errors": [["data": ["properties": ["reason": ["enum": ["network"]]]]]]],
      ],
      "x-errors": [["$ref": "#/components/errors/y"]],
      "components": [
        "errors": [
          "x": [
            "code": 1, "data": ["allOf": [["type": "object"], ["properties": ["reason": ["enum": ["network"]]]]]],
          ],
          "y": ["code": 2, "data": ["properties": ["reason": ["enum": ["rateLimit"]]]]],
        ]
      ],
    ])
    #expect(reference.methods(with: "network") == ["a.one", "b.one"])
    #expect(reference.isOfEveryMethod("rateLimit") && !reference.isOfEveryMethod("network"))
    #expect(reference.markdown.contains("| `network` | `a.one`, `b.*` |") || reference.markdown.contains("`b.one`"))
  }
}
