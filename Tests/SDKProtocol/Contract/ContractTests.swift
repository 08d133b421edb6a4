import JSONRPC
import SDKProtocol
import Testing

struct ContractTests {
  private let methods = CommonMethods.all

  @Test func `Names are unique and well formed`() {
    let names =
      methods.map { $0.name } + CommonMethods.notifications.map { $0.name } + CommonMethods.requests.map { $0.name }
    #expect(Set(names).count == names.count)
    for name in names { #expect(name.wholeMatch(of: /[a-z]+\.[a-z][A-Za-z]*/) != nil, "\(name)") }
  }

  @Test func `Every method is documented and says who may call it`() {
    for method in methods {
      #expect(!method.summary.isEmpty, "\(method.name)")
      #expect(method.summary.hasSuffix("."), "\(method.name)")
      #expect(!method.documentation.isEmpty, "\(method.name)")
      #expect(!method.access.name.isEmpty && !method.ordering.name.isEmpty)
      #expect(method.kind == nil)
      for member in method.paramsSchema.members ?? [] {
        #expect(!member.summary.isEmpty, "\(method.name).\(member.name)")
      }
    }
    for notification in CommonMethods.notifications { #expect(!notification.summary.isEmpty) }
    for request in CommonMethods.requests { #expect(!request.summary.isEmpty && !request.documentation.isEmpty) }
  }

  @Test func `The daemon has a request for each question`() {
    #expect(CommonMethods.requests.map { $0.name } == DelegateQuestion.Name.allCases.map(\.method))
  }

  /// The part of the methods of sdkd-protocol(7) that this version implements.
  @Test(arguments: [
    ("rpc.discover", "anyone", "free"), ("daemon.info", "anyone", "free"), ("daemon.health", "anyone", "free"),
    ("daemon.metrics", "admin", "free"), ("daemon.setLogLevel", "admin", "write"),
    ("daemon.backup", "admin", "read"), ("daemon.rotateKey", "admin", "write"),
    ("instance.create", "create rule", "write"), ("instance.list", "anyone", "read"),
    ("instance.get", "observe", "read"),
    ("instance.update", "control", "write"), ("instance.delete", "owner", "write"),
    ("instance.currentUser", "observe", "read"), ("session.open", "use", "read"), ("token.get", "use", "read"),
    ("token.refresh", "use", "read"), ("token.reject", "use", "read"), ("events.subscribe", "anyone", "read"),
    ("events.unsubscribe", "anyone", "free"), ("events.resume", "anyone", "free"), ("events.list", "anyone", "read"),
    ("storage.get", "use", "read"), ("storage.put", "use", "write"), ("storage.delete", "use", "write"),
    ("storage.list", "use", "read"), ("delegate.attach", "control", "write"), ("delegate.detach", "anyone", "write"),
  ])
  func `Role and order are the table's`(name: String, role: String, ordering: String) throws {
    let method = try #require(methods.first { $0.name == name })
    #expect(method.access.name == role)
    #expect(method.ordering.name == ordering || ordering == "free")
  }

  @Test func `Params and results are what their shapes say`() throws {
    for method in methods {
      try method.checkParams()
      try method.checkResult()
    }
    for notification in CommonMethods.notifications { try notification.checkParams() }
    for request in CommonMethods.requests { try request.checkShapes() }
  }

  @Test func `The example of each question can be read, and is about that question`() throws {
    for request in CommonMethods.requests { try request.checkExample() }
  }

  @Test func `Removing the provider is not the same as leaving it out`() throws {
    let removed = try InstanceUpdate.decode(["instance": "a", "provider": nil])
    #expect(removed.provider == .null)
    #expect(try JSONValueEncoder.encode(removed) == ["instance": "a", "provider": nil])
    let absent = try InstanceUpdate.decode(["instance": "a"])
    #expect(absent.provider == nil)
    #expect(try JSONValueEncoder.encode(absent) == ["instance": "a"])
    let changed = try InstanceUpdate.decode(["instance": "a", "provider": ["timeout": "5s"]])
    #expect(changed.provider == ["timeout": "5s"])
    let refused = #expect(throws: RPCError.self) { _ = try InstanceUpdate.decode(["instance": "a", "provider": 1]) }
    #expect(refused?.data["member"] == "provider")
  }

  @Test func `A null value is stored, a missing one refused`() throws {
    #expect(try StoragePut.decode(["instance": "a", "key": "k", "value": nil]).value == .null)
    let refused = #expect(throws: RPCError.self) { _ = try StoragePut.decode(["instance": "a", "key": "k"]) }
    #expect(refused?.data["member"] == "value")
  }

  @Test func `A bad rule is named by its place`() {
    let refused = #expect(throws: RPCError.self) {
      _ = try InstanceCreate.decode(["instance": "a", "kind": "k", "access": ["use": ["*", "nobody"]]])
    }
    #expect(refused?.data["member"] == "access.use[1]")
  }
}

extension SDKMethod {
  fileprivate static var paramsSchema: JSONSchema { Params.jsonSchema }

  fileprivate static func checkParams() throws { try checkShape(Params.self, name) }

  fileprivate static func checkResult() throws { try checkShape(Result.self, name) }
}

extension RPCMethod {
  fileprivate static func checkShapes() throws {
    try checkShape(Params.self, name)
    try checkShape(Result.self, name)
  }
}

extension DelegateRequest {
  fileprivate static func checkExample() throws {
    #expect(Params.jsonSchema.violation(in: .object(example.params)) == nil, "\(name)")
    let question = try JSONValueDecoder.decode(DelegateQuestion.self, from: .object(example.params))
    #expect(question.question.method == name)
    #expect(Result.jsonSchema.violation(in: example.result) == nil, "\(name)")
    _ = try JSONValueDecoder.decode(Result.self, from: example.result)
    // All members of an answer are optional.
    #expect(example.result.objectValue?.isEmpty == false, "\(name)")
  }
}

extension RPCNotification {
  fileprivate static func checkParams() throws { try checkShape(Params.self, name) }
}

/// Checks that a value that is valid for the schema can be decoded, and that encoding it again gives the same value, with
/// a tree and without.
private func checkShape<T: RPCValue>(_ type: T.Type, _ name: String) throws {
  for isFull in [false, true] {
    let sample = SampleValues(isFull: isFull).value(of: T.jsonSchema)
    #expect(T.jsonSchema.violation(in: sample) == nil)
    let decoded = try JSONValueDecoder.decode(T.self, from: sample)
    let encoded = try JSONValueEncoder.encode(decoded)
    #expect(T.jsonSchema.violation(in: encoded) == nil, "\(name)")
    #expect(encoded == sample, "\(name)")
    let text = try JSONWriter.bytes(encoding: decoded)
    #expect(String(decoding: text, as: UTF8.self) == JSONWriter.text(of: encoded), "\(name)")
  }
}
