import JSONRPC
import SDKInstances
import SDKKinds
import SDKProtocol
import Testing

/// The declarations of the kinds' own methods, beside those of the common ones.
struct KindMethodTests {
  private static let methods = CommonMethods.all + Kinds.all.flatMap { $0.methods }

  @Test("Each code of a method's errors is there once, and one name is one error")
  func errors() {
    var known: [String: DeclaredError] = [:]
    for method in Self.methods {
      let codes = method.allErrors.map(\.code)
      #expect(Set(codes).count == codes.count, "\(method.name)")
      for error in method.allErrors {
        #expect(known[error.name] ?? error == error, "\(error.name)")
        known[error.name] = error
      }
    }
    let declared = Set(known.values.flatMap(\.reasons))
    let ofAny = Set(DeclaredError.ofEveryRequest.flatMap(\.reasons))
    for reason in Reason.allCases { #expect(declared.union(ofAny).contains(reason.rawValue), "\(reason)") }
  }

  @Test("A method of a kind says that it may be called on an instance of another kind")
  func wrongKind() {
    for method in Self.methods where method.kind != nil {
      #expect(method.allErrors.contains { $0.reasons.contains(Reason.wrongKind.rawValue) }, "\(method.name)")
    }
  }

  @Test("Required params come first, and the example of each method has its shape")
  func examples() throws {
    for method in Self.methods { try method.check() }
  }

  @Test("A required param that may be null is encoded when it is null")
  func nulls() throws {
    for method in Self.methods { try method.checkNulls() }
  }

  @Test("One name is one shape")
  func shapes() {
    var known: [String: JSON] = [:]
    for method in Self.methods {
      for (name, schema) in method.named {
        #expect(known[name] ?? schema.document == schema.document, "\(name)")
        known[name] = schema.document
      }
    }
  }
}

extension SDKMethod {
  fileprivate static var named: [String: JSONSchema] {
    Params.jsonSchema.namedSchemas.merging(Result.jsonSchema.namedSchemas) { first, _ in first }
  }

  fileprivate static func checkNulls() throws {
    for member in Params.jsonSchema.members ?? [] where member.isRequired && member.schema.violation(in: .null) == nil {
      var params = example.params
      params[member.name] = .null
      let encoded = try JSONValueEncoder.encode(try decode(.object(params)))
      #expect(Params.jsonSchema.violation(in: encoded) == nil, "\(name): \(member.name)")
    }
  }

  fileprivate static func check() throws {
    let required = (Params.jsonSchema.members ?? []).map(\.isRequired)
    #expect(required == required.sorted { $0 && !$1 }, "\(name)")
    #expect(Params.jsonSchema.violation(in: .object(example.params)) == nil, "\(name)")
    _ = try decode(.object(example.params))
    #expect(Result.jsonSchema.violation(in: example.result) == nil, "\(name)")
    _ = try JSONValueDecoder.decode(Result.self, from: example.result)
  }
}
