#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A value in a column or an argument, in the types of SQLite.
public enum DatabaseValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob(Data)
}

/// The values for the placeholders of a statement, in their order.
public typealias StatementArguments = [any DatabaseValueConvertible]

/// A type whose values can be arguments and columns.
public protocol DatabaseValueConvertible: Sendable {
  /// The value in a type of SQLite.
  var databaseValue: DatabaseValue { get }

  /// Creates a value from a column; `nil` if that has another type.
  init?(databaseValue: DatabaseValue)
}

extension DatabaseValueConvertible {
  /// Returns the first column of the first row; `nil` if there is no row or the column has another type.
  public static func fetchOne(
    _ db: Database, sql: String, arguments: StatementArguments = []
  ) throws -> Self? {
    try Row.fetchOne(db, sql: sql, arguments: arguments).flatMap { Self(databaseValue: $0[0]) }
  }

  /// Returns the first column of all rows, without those of another type.
  public static func fetchAll(
    _ db: Database, sql: String, arguments: StatementArguments = []
  ) throws -> [Self] {
    let rows = try Row.fetchCursor(db, sql: sql, arguments: arguments)
    var values: [Self] = []
    while let row = try rows.next() {
      if let value = Self(databaseValue: row[0]) { values.append(value) }
    }
    return values
  }
}

extension DatabaseValue: DatabaseValueConvertible {
  public var databaseValue: DatabaseValue { self }

  public init?(databaseValue: DatabaseValue) { self = databaseValue }
}

extension Int64: DatabaseValueConvertible {
  public var databaseValue: DatabaseValue { .integer(self) }

  public init?(databaseValue: DatabaseValue) {
    guard case .integer(let integer) = databaseValue else { return nil }
    self = integer
  }
}

extension Int: DatabaseValueConvertible {
  public var databaseValue: DatabaseValue { .integer(Int64(self)) }

  public init?(databaseValue: DatabaseValue) {
    guard case .integer(let integer) = databaseValue else { return nil }
    self.init(exactly: integer)
  }
}

extension Double: DatabaseValueConvertible {
  public var databaseValue: DatabaseValue { .real(self) }

  public init?(databaseValue: DatabaseValue) {
    switch databaseValue {
    case .real(let real): self = real
    case .integer(let integer): self = Double(integer)
    default: return nil
    }
  }
}

extension String: DatabaseValueConvertible {
  public var databaseValue: DatabaseValue { .text(self) }

  public init?(databaseValue: DatabaseValue) {
    guard case .text(let text) = databaseValue else { return nil }
    self = text
  }
}

extension Data: DatabaseValueConvertible {
  public var databaseValue: DatabaseValue { .blob(self) }

  public init?(databaseValue: DatabaseValue) {
    guard case .blob(let data) = databaseValue else { return nil }
    self = data
  }
}

extension UInt64 {
  /// The same 64 bits as `Int64`, the integer type of SQLite.
  public var stored: Int64 { Int64(bitPattern: self) }
}
