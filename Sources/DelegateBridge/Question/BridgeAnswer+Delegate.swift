public import JSONRPC
public import SDKProtocol

extension BridgeAnswer {
  /// The longest answer of a delegate, in bytes. The same as the default `maxOutput` of a provider.
  private static let maximumBytes = 64 << 10

  /// Creates an answer from a delegate's result.
  ///
  /// - Throws: `providerOutputInvalid`, without anything of the result in its message.
  public init(delegateResult result: JSON, to question: BridgeQuestion) throws(SDKError) {
    guard let object = result.objectValue else {
      throw .output("answered with a \(result.typeName); it must be an object", by: .delegate)
    }
    guard JSONWriter.bytes(of: result).count <= Self.maximumBytes else {
      throw .output("answered with more than \(Self.maximumBytes) bytes", by: .delegate)
    }
    self = try AnswerShape.check(object, question, by: .delegate)
  }
}
