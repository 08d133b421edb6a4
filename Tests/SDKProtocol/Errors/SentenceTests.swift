import JSONRPC
import Testing

@testable import SDKProtocol

/// The sentences that apps show to people.
struct SentenceTests {
  /// Words that a person before a kiosk need not know, by language. A trailing `*` stands for any ending.
  static let technicalWords: [Language: [String]] = [
    .en: [
      "account*", "api", "app*", "authenticat*", "client*", "config*", "credential*", "daemon*", "delegate*", "error*",
      "instance*", "internet", "jwt*", "key*", "login*", "network*", "password*", "provider*", "sdk*", "server*",
      "service*", "session*", "setting*", "socket*", "storage*", "system*", "token*", "user*", "vendor*",
    ],
    .de: [
      "account*", "anbieter*", "api", "app*", "authentifi*", "client*", "daemon*", "dienst*", "fehler*", "instanz*",
      "internet*", "konfig*", "kennung*", "konto*", "login*", "netz*", "passwort*", "sdk*", "server*", "sitzung*",
      "speicher*", "system*", "token*", "zertifikat*",
    ],
    .fr: [
      "api", "application*", "authentif*", "compte*", "config*", "daemon*", "erreur*", "fournisseur*", "instance*",
      "internet", "jeton*", "login*", "mot", "réseau*", "sdk*", "serveur*", "service*", "stockage*", "système*",
      "token*", "utilisateur*",
    ],
    .es: [
      "api", "aplicación*", "autentic*", "config*", "cuenta*", "daemon*", "error*", "instancia*", "internet", "login*",
      "proveedor*", "red", "redes", "sdk*", "servicio*", "servidor*", "sistema*", "token*", "usuario*",
    ],
    .ru: [
      "api", "аккаунт*", "аутентифик*", "демон*", "интернет*", "конфиг*", "логин*", "настройк*", "ошибк*", "парол*",
      "пользовател*", "провайдер*", "сервер*", "сервис*", "сети", "сеть", "систем*", "токен*", "экземпляр*",
    ],
  ]

  @Test("Each reason has one sentence")
  func reasons() {
    let listed = Sentence.allCases.flatMap(\.reasons)
    #expect(Set(listed).count == listed.count)
    let known = Reason.allCases.map(\.rawValue) + ProtocolReason.allCases.map(\.rawValue)
    #expect(Set(known).subtracting(listed).isEmpty)
    #expect(Sentence(reason: "reauthNeeded") == .signInAgain)
    #expect(Sentence(reason: "somethingOfALaterDaemon") == .general)
    #expect(Sentence.allCases.allSatisfy { !$0.reasons.isEmpty })
  }

  @Test("A sentence is short, ends with a period, and is in its language", arguments: Language.allCases)
  func texts(_ language: Language) {
    let texts = Sentence.allCases.map { $0.text(in: language) }
    #expect(Set(texts).count == texts.count, "two sentences are alike")
    for text in texts {
      #expect((10...100).contains(text.count), "\(text)")
      #expect(text.hasSuffix(".") && text.first?.isUppercase == true, "\(text)")
      #expect(!text.contains { $0.isNumber || "`_{}<>\\/\"".contains($0) || $0.isNewline }, "\(text)")
      let hasCyrillic = text.unicodeScalars.contains { (0x400...0x4FF).contains($0.value) }
      let hasLatin = text.unicodeScalars.contains { $0.properties.isAlphabetic && $0.value < 0x250 }
      #expect(hasCyrillic == (language == .ru) && hasLatin == (language != .ru), "\(text)")
    }
    guard language != .en else { return }
    #expect(Set(texts).isDisjoint(with: Sentence.allCases.map { $0.text(in: .en) }))
  }

  @Test("No sentence has a technical word or the name of a reason", arguments: Language.allCases)
  func plainWords(_ language: Language) throws {
    let technical = try #require(Self.technicalWords[language])
    let names = Set(Sentence.allCases.flatMap(\.reasons).map { $0.lowercased() })
    for sentence in Sentence.allCases {
      let words = sentence.text(in: language).lowercased().split { !$0.isLetter && $0 != "-" }.map(String.init)
      for word in words {
        #expect(!technical.contains { Self.matches(word, $0) }, "\(sentence): \(word)")
        // A reason of several words is not a word of a sentence.
        #expect(!names.contains(word) || word.count < 9, "\(sentence): \(word)")
      }
    }
  }

  private static func matches(_ word: String, _ pattern: String) -> Bool {
    pattern.hasSuffix("*") ? word.hasPrefix(pattern.dropLast()) : word == pattern
  }

  /// Tags of locales, with the codes of their languages.
  static let tags: [(String, String?)] = [
    ("de", "de"), ("de-AT", "de"), ("fr_CH.UTF-8", "fr"), ("RU", "ru"), ("es@latin", "es"), ("C", nil), ("", nil),
  ]

  @Test("A language has the tags of locales", arguments: tags)
  func languageOfTag(_ tag: String, _ code: String?) {
    #expect(Language(tag: tag)?.rawValue == code)
  }

  @Test("The OpenRPC document has each sentence in each language, with its reasons")
  func document() {
    let listed = Sentence.document.arrayValue ?? []
    #expect(listed.map { $0["name"]?.stringValue } == Sentence.allCases.map(\.rawValue))
    for (entry, sentence) in zip(listed, Sentence.allCases) {
      #expect(entry["isGeneral"]?.boolValue == (sentence == .general))
      #expect(entry["reasons"]?.arrayValue?.compactMap(\.stringValue) == sentence.reasons)
      #expect(entry["texts"]?.objectValue?.keys == Language.allCases.map(\.rawValue))
      #expect(entry["texts"]?["ru"]?.stringValue == sentence.text(in: .ru))
    }
  }
}
