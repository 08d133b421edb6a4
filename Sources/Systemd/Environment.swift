import Glibc

/// Reads the process environment one variable at a time, without copying the whole of it.
enum Environment {
  /// The value of a variable; nil if it is unset or empty, which mean the same to everything here.
  static func value(_ name: String) -> String? {
    guard let pointer = getenv(name), pointer.pointee != 0 else { return nil }
    return String(cString: pointer)
  }
}
