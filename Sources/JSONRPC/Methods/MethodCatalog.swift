/// Every method of a contract, by name.
public struct MethodCatalog: Sendable {
  private let byName: [String: any RPCMethod.Type]

  /// A catalog of these; of two with one name the first counts, which a test forbids.
  public init(_ methods: [any RPCMethod.Type]) {
    byName = Dictionary(methods.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The method of this name.
  public subscript(name: String) -> (any RPCMethod.Type)? { byName[name] }

  /// All of them, by name.
  public var methods: [any RPCMethod.Type] { byName.values.sorted { $0.name < $1.name } }

  /// The names, sorted.
  public var names: [String] { byName.keys.sorted() }
}
