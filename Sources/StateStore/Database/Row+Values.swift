import GRDB

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Columns as values of the expected type, or `nil`. GRDB's own subscripts trap on a value of another type, which a
/// damaged database can contain.
extension Row {
  private func value(_ column: Int) -> DatabaseValue { self[column] }

  func data(_ column: Int) -> Data? {
    if case .blob(let data) = value(column).storage { data } else { nil }
  }

  func text(_ column: Int) -> String? {
    if case .string(let text) = value(column).storage { text } else { nil }
  }

  func integer(_ column: Int) -> Int64? {
    if case .int64(let integer) = value(column).storage { integer } else { nil }
  }

  func unsigned(_ column: Int) -> UInt64? { integer(column).map(UInt64.init(bitPattern:)) }

  func real(_ column: Int) -> Double? {
    switch value(column).storage {
    case .double(let real): real
    case .int64(let integer): Double(integer)
    default: nil
    }
  }
}

extension UInt64 {
  /// The same 64 bits as `Int64`, the integer type of SQLite.
  var stored: Int64 { Int64(bitPattern: self) }
}
