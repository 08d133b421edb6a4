import Foundation

/// The clock of a namespace: the machine's clock plus an offset that `POST /_clock` sets. It keeps running.
struct SandboxClock: Sendable {
  /// The seconds by which this clock is ahead of the machine's.
  private(set) var offset: TimeInterval = 0
  private let machine: @Sendable () -> Date

  /// The allowed offsets: a hundred years either way, so that every resulting date can be written in HTTP.
  static let offsets = -3_155_760_000.0...3_155_760_000.0

  init(machine: @escaping @Sendable () -> Date) {
    self.machine = machine
  }

  var now: Date { machine().addingTimeInterval(offset) }

  /// Sets the clock by `{"offsetSeconds": N}` or `{"now": epochSeconds}`.
  mutating func set(_ tree: JSONTree?) throws(ControlMistake) {
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
  var tree: JSONTree {
    ["now": .number(now.timeIntervalSince1970.rounded(.down)), "offsetSeconds": .number(offset)]
  }
}
