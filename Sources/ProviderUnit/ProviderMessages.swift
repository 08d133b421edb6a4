public import JSONRPC

/// The question that the daemon sends to a provider that is a systemd unit, and the conversion to the standard input of
/// the unit's program.
public enum ProviderQuestion {
  private static let standardInput = "standardInput"

  /// Returns the question with a member that holds the text for the program's standard input. Returns a question that
  /// is not an object unchanged.
  public static func wrapping(_ question: JSON, standardInput text: String) -> JSON {
    guard var object = question.objectValue else { return question }
    object[Self.standardInput] = .string(text)
    return .object(object)
  }

  /// Returns the bytes for the program's standard input: the text that `wrapping` added, otherwise the question as it
  /// was received.
  public static func programInput(_ question: JSON, received: [UInt8]) -> [UInt8] {
    question[standardInput]?.stringValue.map { Array($0.utf8) } ?? received
  }
}

/// The environment variables that hold parts of a question, for scripts that don't parse JSON.
public enum QuestionVariables {
  /// Returns the environment variables for a question, by name, such as `SDKD_INSTANCE`.
  ///
  /// The user's external id is omitted if the question marks it as a secret, because other processes of the same user
  /// can read the environment. Values that contain a NUL are omitted too.
  public static func make(_ question: JSON) -> [String: String] {
    var all: [String: String] = [:]
    all["SDKD_INSTANCE"] = question["instance"]?.stringValue
    all["SDKD_KIND"] = question["kind"]?.stringValue
    all["SDKD_SERVICE"] = question["service"]?.stringValue
    all["SDKD_QUESTION"] = question["question"]?.stringValue
    all["SDKD_ATTEMPT"] = question["attempt"]?.intValue.map(String.init)
    if question["user"]?["isSecret"]?.boolValue != true {
      all["SDKD_EXTERNAL_ID"] = question["user"]?["externalId"]?.stringValue
    }
    return all.filter { !$0.value.utf8.contains(0) }
  }
}

/// The reply of a provider that is a systemd unit: the program's output, then its exit status.
public struct ProviderReply: Sendable, Hashable {
  /// The program's standard output.
  public let output: [UInt8]
  /// The program's exit status.
  public let status: ProviderStatus

  /// Parses a reply. Returns `nil` while its trailer is missing.
  ///
  /// The wrapper writes its trailer last, so the trailer begins with the last NUL. A program that writes a trailer
  /// itself has a NUL in its output, which makes the answer invalid.
  public init?(_ bytes: [UInt8]) {
    let tail = bytes.suffix(ProviderStatus.longestTrailer)
    guard let start = tail.lastIndex(of: 0), let status = ProviderStatus(trailer: tail[start...]) else { return nil }
    output = Array(bytes[..<start])
    self.status = status
  }
}

/// The exit status of a provider's program, in the form that its wrapper sends to the daemon.
public enum ProviderStatus: Sendable, Hashable {
  /// The program exited with this status, 0 to 255.
  case exited(Int32)
  /// The signal with this number ended the program.
  case signalled(Int32)

  /// The maximum length of a trailer, in bytes.
  public static let longestTrailer = 32

  private static let mark: [UInt8] = [0] + Array("sdkd-exit ".utf8)
  private static let signalWord = "signal "

  /// The end of a reply: a NUL, `sdkd-exit`, the status or signal, and a newline. No answer of any format contains a
  /// NUL.
  public var trailer: [UInt8] {
    switch self {
    case .exited(let status): Self.mark + Array("\(status)\n".utf8)
    case .signalled(let signal): Self.mark + Array("\(Self.signalWord)\(signal)\n".utf8)
    }
  }

  /// Parses a trailer. Returns `nil` if the bytes are not a trailer.
  public init?(trailer: some Collection<UInt8>) {
    guard trailer.count <= Self.longestTrailer, trailer.starts(with: Self.mark) else { return nil }
    var words = String(decoding: trailer.dropFirst(Self.mark.count), as: UTF8.self)
    guard words.popLast() == "\n" else { return nil }
    let isSignal = words.hasPrefix(Self.signalWord)
    let digits = isSignal ? words.dropFirst(Self.signalWord.count) : words[...]
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int32(digits),
      (isSignal ? 1...127 : 0...255).contains(number)
    else { return nil }
    self = isSignal ? .signalled(number) : .exited(number)
  }
}
