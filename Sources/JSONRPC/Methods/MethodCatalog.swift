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
