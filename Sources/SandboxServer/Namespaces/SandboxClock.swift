import Foundation
import JSONRPC

/// The clock of a namespace: the machine's clock plus an offset that `POST /_clock` sets. It keeps running.
struct SandboxClock: Sendable {
  /// The seconds by which this clock is ahead of the machine's.
  private(set) var offset: TimeInterval = 0
  let machine: @Sendable () -> Date

  /// The allowed offsets: a hundred years either way, so that every resulting date can be written in HTTP.
  static let offsets = -3_155_760_000.0...3_155_760_000.0

  var now: Date { machine().addingTimeInterval(offset) }

  /// Sets the clock by `{"offsetSeconds": N}` or `{"now": epochSeconds}`.
  mutating func set(_ tree: JSON?) throws(ControlMistake) {
    let members = try ControlMembers(tree, known: ["offsetSeconds", "now"])
    let offset = try members.number("offsetSeconds", in: Self.offsets)
    let now = try members.number("now", in: 0...4_102_444_800)
    switch (offset, now) {
    case (let offset?, nil): self.offset = offset
    case (nil, let now?): self.offset = now - machine().timeIntervalSince1970
    case (nil, nil): throw ControlMistake(nil, "either offsetSeconds or now must be given")
    case (_?, _?): throw ControlMistake("now", "can't be given together with offsetSeconds")
    }
  }

  /// The clock as JSON: `{"now": epochSeconds, "offsetSeconds": N}`.
  var tree: JSON {
    ["now": .number(now.timeIntervalSince1970.rounded(.down)), "offsetSeconds": .number(offset)]
  }
}

/// The date format of HTTP (RFC 9110, 5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  static func text(_ date: Date) -> String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let parts = calendar.dateComponents([.weekday, .day, .month, .year, .hour, .minute, .second], from: date)
    let day = days[((parts.weekday ?? 1) + 6) % 7]
    let month = months[((parts.month ?? 1) + 11) % 12]
    let time = [parts.hour, parts.minute, parts.second].map { padded($0, 2) }.joined(separator: ":")
    return "\(day), \(padded(parts.day, 2)) \(month) \(padded(parts.year, 4)) \(time) GMT"
  }

  private static func padded(_ number: Int?, _ width: Int) -> String {
    let digits = String(number ?? 0)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
