import Glibc
import Linux
import SDKProtocol

@testable import DelegateBridge
@testable import JSONRPCTransport
@testable import Systemd

extension FuzzTarget {
  /// The system's texts about processes: `/proc/PID/stat`, a part with `/proc/PID/status`, and the names of units.
  static let processes = FuzzTarget("processes", maximumLength: 8192) { input in
    let parts = input.parts.map { String(decoding: $0, as: UTF8.self) }
    let stat = parts[0]
    let status = parts.count > 1 ? parts[1] : stat
    if let entry = ProcessEntry(stat: stat), let stamp = ProcessStamp(stat: stat, status: status) {
      // The kernel separates the fields by spaces; other white space can only be part of the name.
      let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...]
      guard fields.allSatisfy({ $0 == " " || !$0.isWhitespace }) else { return }
      require(entry.start == stamp.start, "Two readers see the starts \(entry.start) and \(stamp.start).")
      require(entry.state != "Z", "A process that has ended has a stamp.")
    }
    for line in input.lines {
      switch PeerUnit.lookup(1, Units(user: nil, system: line)) {
      case .system(let unit):
        require(
          !unit.hasPrefix("user@") || AccessRule("unit:\(unit)")?.conditions != [.unit(unit)],
          "A user's manager passes for a unit: \(unit)")
      case .user: fatalError("A process of the system is a user's.")
      case .none: break
      }
      if case .system = PeerUnit.lookup(1, Units(user: line, system: line)) {
        fatalError("A user's process is the system's.")
      }
      if UnitName.problem(of: line) == nil {
        require(line.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F }, "\(line) is the name of a unit.")
      }
    }
  }

  private struct Units: ProcessUnits {
    let user: String?
    let system: String

    func systemUnit(of pid: Int32) -> Result<String, SystemCallError> { .success(system) }
    func userUnit(of pid: Int32) -> Result<String, SystemCallError> {
      user.map { .success($0) } ?? .failure(SystemCallError("sd_pid_get_user_unit", ENODATA))
    }
    func owner(of pid: Int32) -> UInt32? { user == nil ? nil : 1000 }
  }
}
