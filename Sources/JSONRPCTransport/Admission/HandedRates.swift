internal import JSONRPC

/// The rates that a user has used up, on their way from one process to another, so that a restart fills no bucket.
///
/// Times are nanoseconds of `CLOCK_MONOTONIC`, the clock of the event loops. All processes share it until the system is
/// booted again.
public struct HandedRates: Sendable, Hashable {
  /// The number of the user; `nil` for all strangers together.
  public var user: UInt32?
  /// The time at which the bucket of calls is full again.
  public var calls: UInt64
  /// The time at which the bucket of messages is full again.
  public var messages: UInt64
  /// The time at which the bucket of new connections is full again.
  public var connections: UInt64
}

/// The form in which rates are passed on: a line of JSON before the states of connections.
///
/// It has the lengths that each of those has. So a reader that does not know the line leaves it out.
extension HandedRates {
  /// The maximum number of users in a line.
  public static let maximumUsers = 4096

  /// Returns the line; no bytes without rates. Users beyond `maximumUsers` are left out: those with the most calls left.
  public static func encode(_ rates: [HandedRates]) -> [UInt8] {
    guard !rates.isEmpty else { return [] }
    let written = rates.sorted { $0.calls > $1.calls }.prefix(maximumUsers).map(\.json)
    return JSONWriter.bytes(of: ["rates": .array(written), "input": 0, "output": 0]) + [UInt8(ascii: "\n")]
  }

  /// Reads the line at the beginning of the bytes. Returns no rates if there is no such line, and leaves out those whose
  /// user can't be read.
  public static func decode(_ bytes: [UInt8]) -> [HandedRates] {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
      let line = try? JSONParser.parse(bytes[..<end], .ownText), let rates = line["rates"]?.arrayValue
    else { return [] }
    return rates.prefix(maximumUsers).compactMap { HandedRates($0) }
  }

  /// Numbers that don't fit into a double are strings.
  private var json: JSON {
    [
      "user": user.map { JSON(Int($0)) } ?? .null, "calls": .string("\(calls)"), "messages": .string("\(messages)"),
      "connections": .string("\(connections)"),
    ]
  }

  private init?(_ json: JSON) {
    guard let number = json["user"] else { return nil }
    let user = number.intValue.flatMap { UInt32(exactly: $0) }
    guard user != nil || number.isNull else { return nil }
    self.init(
      user: user, calls: Self.time(json["calls"]), messages: Self.time(json["messages"]),
      connections: Self.time(json["connections"]))
  }

  /// Reads a time. What is no number, or is negative, becomes 0, which means a full bucket. A number that is too large
  /// becomes the largest, which means an empty one.
  private static func time(_ json: JSON?) -> UInt64 {
    guard let text = json?.stringValue, !text.isEmpty,
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return 0 }
    return UInt64(text) ?? .max
  }
}
