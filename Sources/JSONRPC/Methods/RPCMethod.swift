/// A type whose values are sent in messages: Codable, with a declared shape.
public typealias RPCValue = Codable & JSONSchemaRepresentable & Sendable

/// A method of the contract, declared as a caseless enum in its own file.
///
/// The catalog, the dispatch, the OpenRPC document and the client call are derived from it.
public protocol RPCMethod: SendableMetatype {
  /// The type of the params, which are passed by name.
  associatedtype Params: RPCValue
  /// The type of the result.
  associatedtype Result: RPCValue

  /// The name in messages, such as `token.get`.
  static var name: String { get }
  /// A one-sentence description for lists.
  static var summary: String { get }
  /// The full description: behaviour, units, errors, and the document that specifies them.
  static var documentation: String { get }
  /// Whether a request of this method may be larger than 64 KiB.
  static var takesLargeFrames: Bool { get }
}

extension RPCMethod {
  /// The default: most methods take no large frames.
  public static var takesLargeFrames: Bool { false }
}

/// Params or a result without members.
public struct Empty: RPCValue, Hashable {
  public static let jsonSchema: JSONSchema = .empty
  /// Makes a value without members.
  public init() {}
}

extension RPCMethod {
  /// Checks params against the method's shape and decodes them.
  ///
  /// - Parameter params: the params as received; `nil` and `{}` are equivalent.
  /// - Throws: `invalidParams` with the member, and the nearest known name for an unknown one.
  public static func decode(_ params: JSON?) throws(RPCError) -> Params {
    if case .array? = params {
      throw .invalidParams("The params of \(name) go by name, in an object.")
    }
    let value = params ?? .object(JSONObject())
    if let violation = Params.jsonSchema.violation(in: value) { throw .invalidParams(violation) }
    do {
      return try JSONValueDecoder.decode(Params.self, from: value)
    } catch let error as any RPCErrorConvertible {
      throw error.rpcError
    } catch let error as DecodingError {
      throw .invalidParams(error)
    } catch {
      throw .invalidParams("The params of \(name) can't be read.")
    }
  }
}

/// A notification of the contract: a message without a response.
public protocol RPCNotification: SendableMetatype {
  /// The type of the params.
  associatedtype Params: RPCValue
  /// The name in messages, such as `events.event`.
  static var name: String { get }
  /// A one-sentence description for lists.
  static var summary: String { get }
}

/// The methods of a contract, by name.
public struct MethodCatalog: Sendable {
  private let byName: [String: any RPCMethod.Type]

  /// Makes a catalog of these methods. Of two with the same name the first counts; a test forbids duplicates.
  public init(_ methods: [any RPCMethod.Type]) {
    byName = Dictionary(methods.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The method of this name; `nil` if there is none.
  public subscript(name: String) -> (any RPCMethod.Type)? { byName[name] }

  /// The methods, sorted by name.
  public var methods: [any RPCMethod.Type] { byName.values.sorted { $0.name < $1.name } }

  /// The names, sorted.
  public var names: [String] { byName.keys.sorted() }
}

extension RPCError {
  /// Returns -32602 for a value of the right shape that its type refuses.
  static func invalidParams(_ error: DecodingError) -> RPCError {
    let context: DecodingError.Context? =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
        .dataCorrupted(let context):
        context
      @unknown default: nil
      }
    let member = context?.codingPath.reduce("") { path, key in
      key.intValue.map { "\(path)[\($0)]" } ?? (path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)")
    }
    let sentence = context?.debugDescription ?? "The params can't be read."
    return .invalidParams(sentence, member: member.flatMap { $0.isEmpty ? nil : $0 })
  }
}
