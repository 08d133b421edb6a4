public import SDKProtocol

extension Secret: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self.init(value) }
}
