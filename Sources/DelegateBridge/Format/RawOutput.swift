import SDKProtocol

/// The token itself on one line.
enum RawOutput {
  static func parse(_ text: ArraySlice<UInt8>, _ question: BridgeQuestion) throws(SDKError) -> BridgeAnswer {
    guard text.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .output("wrote more than one word of printable ASCII; let it write the token alone, or set provider.format")
    }
    return try OutputFormat.answer(token: String(decoding: text, as: UTF8.self), format: .raw, question)
  }
}
