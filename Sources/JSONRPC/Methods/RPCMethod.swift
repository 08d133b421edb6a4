/// A type whose values cross the wire: Codable, with its shape said aloud.
public typealias RPCValue = Codable & JSONSchemaRepresentable & Sendable

/// One method of the contract, as a caseless enum in a file of its own.
///
/// The catalog, dispatch, OpenRPC document and client call follow from it.
public protocol RPCMethod: SendableMetatype {
  /// What the caller sends, by name.
  associatedtype Params: RPCValue
  /// What the caller gets.
  associatedtype Result: RPCValue

  /// The name on the wire, such as `token.get`.
  static var name: String { get }
  /// One sentence for lists.
  static var summary: String { get }
  /// What it does, its units, its errors, and the document that says so.
  static var documentation: String { get }
  /// Whether its request may be larger than 64 KiB.
  static var takesLargeFrames: Bool { get }
}

extension RPCMethod {
  /// Few methods do.
  public static var takesLargeFrames: Bool { false }
}

/// Params or a result without members.
public struct Empty: RPCValue, Hashable {
  public static let jsonSchema: JSONSchema = .empty
  /// Nothing.
  public init() {}
}

extension RPCMethod {
  /// Checks params against the method's shape and decodes them.
  ///
  /// - Parameter params: as they came; none and `{}` are the same.
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

extension RPCError {
  /// -32602 for a value of the right shape that its type refuses.
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
