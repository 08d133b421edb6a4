/// The exit status of a provider's program, in the form that its wrapper sends to the daemon.
public enum ProviderStatus: Sendable, Hashable {
  /// The program exited with this status, 0 to 255.
  case exited(Int32)
  /// This signal ended the program.
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

  /// The status in a trailer; `nil` if the bytes are not a trailer.
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
