import Glibc

/// The fields of a process in `/proc/PID/stat`.
struct ProcessEntry: Sendable, Hashable {
  let pid: pid_t
  /// `R`, `S`, `Z`, ….
  let state: Character
  let parent: pid_t
  let group: pid_t
  let session: pid_t
  /// The time at which it started, in clock ticks since boot.
  let start: UInt64

  /// Parses the line; `nil` if it is malformed.
  init?(stat line: String) {
    // The name is in parentheses and may itself hold spaces and parentheses.
    guard let open = line.firstIndex(of: "("), let close = line.lastIndex(of: ")"),
      let pid = pid_t(line[..<open].trimmingSpaces)
    else { return nil }
    let fields = line[line.index(after: close)...].split(separator: " ")
    guard fields.count > 19, let state = fields[0].first, let parent = pid_t(fields[1]), let group = pid_t(fields[2]),
      let session = pid_t(fields[3]), let start = UInt64(fields[19])
    else { return nil }
    self.pid = pid
    self.state = state
    self.parent = parent
    self.group = group
    self.session = session
    self.start = start
  }
}

extension Substring {
  fileprivate var trimmingSpaces: Substring { drop { $0 == " " }.prefix { $0 != " " } }
}
