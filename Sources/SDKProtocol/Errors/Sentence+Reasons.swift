import JSONRPC

extension Sentence {
  /// Creates the sentence for a reason. One that is not known, such as that of a later daemon, has a general sentence.
  public init(reason: String) { self = Self.ofReasons[reason] ?? .general }

  private static let ofReasons = Dictionary(
    allCases.flatMap { sentence in sentence.reasons.map { ($0, sentence) } }, uniquingKeysWith: { first, _ in first })

  /// The sentences in the OpenRPC document, from which client libraries have them.
  static var document: JSON {
    .array(
      allCases.map { sentence in
        let texts = Language.allCases.map { ($0.rawValue, JSON.string(sentence.text(in: $0))) }
        return [
          "name": .string(sentence.rawValue), "isGeneral": .bool(sentence == .general),
          "reasons": .array(sentence.reasons.map(JSON.string)),
          "texts": .object(JSONObject(texts)),
        ]
      })
  }
}

extension Language {
  /// Creates the language of a tag such as `de`, `de-AT` or `de_AT.UTF-8`. Returns `nil` if it has no sentences.
  public init?(tag: String) {
    self.init(rawValue: tag.prefix { !"-_.@".contains($0) }.lowercased())
  }
}
