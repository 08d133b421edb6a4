internal import Glibc

/// A failed call to the kernel or to libsystemd.
public struct SystemCallError: Error, Hashable, CustomStringConvertible {
  /// The call and its object, such as `connect to /run/x`.
  public let call: String
  /// The positive error number.
  public let errorNumber: Int32

  /// An error with a number of either sign: the kernel's positive `errno` or libsystemd's negative result.
  public init(_ call: String, _ errorNumber: Int32) {
    self.call = call
    self.errorNumber = errorNumber < 0 ? 0 &- errorNumber : errorNumber
  }

  /// The call and the text of the error: `call: No such file or directory`.
  public var description: String { "\(call): \(Self.text(of: errorNumber))" }

  /// Returns the system's text for a positive error number: `No such file or directory`.
  public static func text(of errorNumber: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    guard strerror_r(errorNumber, &text, text.count - 1) == 0 else { return "error \(errorNumber)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
