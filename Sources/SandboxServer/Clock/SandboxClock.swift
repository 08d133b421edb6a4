import Foundation

/// The sandbox's time: the machine's, moved by `POST /_clock`. It keeps ticking.
struct SandboxClock: Sendable {
  /// How far the sandbox is ahead of the machine, in seconds.
  private(set) var offset: TimeInterval = 0
  private let machine: @Sendable () -> Date

  /// A hundred years either way: every date that results can still be written in HTTP.
  static let offsets = -3_155_760_000.0...3_155_760_000.0

  init(machine: @escaping @Sendable () -> Date) {
    self.machine = machine
  }

  var now: Date { machine().addingTimeInterval(offset) }

  /// Obeys `{"offsetSeconds": N}` or `{"now": epochSeconds}`.
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

  /// `{"now": epochSeconds, "offsetSeconds": N}`.
  var tree: JSONTree {
    ["now": .number(now.timeIntervalSince1970.rounded(.down)), "offsetSeconds": .number(offset)]
  }
}
