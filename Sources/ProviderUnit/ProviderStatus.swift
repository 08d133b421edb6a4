/// How the program of a provider that is a systemd unit ended, and how its wrapper tells the daemon.
public enum ProviderStatus: Sendable, Hashable {
  /// It exited with this status, 0 to 255.
  case exited(Int32)
  /// This signal ended it.
  case signalled(Int32)

  /// No trailer is longer than this many bytes.
  public static let longestTrailer = 32

  private static let mark: [UInt8] = [0] + Array("sdkd-exit ".utf8)
  private static let signalWord = "signal "

  /// What ends the reply: a NUL, which no answer of any format holds, `sdkd-exit`, the status and a newline.
  public var trailer: [UInt8] {
    switch self {
    case .exited(let status): Self.mark + Array("\(status)\n".utf8)
    case .signalled(let signal): Self.mark + Array("\(Self.signalWord)\(signal)\n".utf8)
    }
  }

  /// The status that a trailer tells; `nil` when the bytes are none.
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
