import Glibc

/// Access to single variables of the process environment, without copying all of it.
enum Environment {
  /// Returns the value of a variable; nil if it is unset or empty, which the daemon treats alike.
  static func value(_ name: String) -> String? {
    guard let pointer = getenv(name), pointer.pointee != 0 else { return nil }
    return String(cString: pointer)
  }
}
