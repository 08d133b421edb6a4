import CSystemd
import Glibc

/// What libsystemd knows about the unit of a process: a seam, since a test has no users and no units.
protocol ProcessUnits {
  /// The unit of the system's manager.
  func systemUnit(of pid: Int32) -> Result<String, SystemCallError>
  /// The unit of a user's manager; fails with ENODATA or ENXIO for a process that no user manager runs.
  func userUnit(of pid: Int32) -> Result<String, SystemCallError>
  /// The user whose manager or session runs the process.
  func owner(of pid: Int32) -> UInt32?
}

/// The real one, by `sd_pid_get_unit(3)` and its relatives.
struct LibsystemdUnits: ProcessUnits {
  func systemUnit(of pid: Int32) -> Result<String, SystemCallError> {
    string("sd_pid_get_unit") { sd_pid_get_unit(pid, &$0) }
  }

  func userUnit(of pid: Int32) -> Result<String, SystemCallError> {
    string("sd_pid_get_user_unit") { sd_pid_get_user_unit(pid, &$0) }
  }

  func owner(of pid: Int32) -> UInt32? {
    var uid: uid_t = 0
    return sd_pid_get_owner_uid(pid, &uid) >= 0 ? uid : nil
  }

  private func string(
    _ call: String, _ ask: (inout UnsafeMutablePointer<CChar>?) -> Int32
  ) -> Result<String, SystemCallError> {
    var text: UnsafeMutablePointer<CChar>?
    let status = ask(&text)
    defer { free(text) }
    guard status >= 0 else { return .failure(SystemCallError(call, status)) }
    guard let text else { return .failure(SystemCallError(call, ENODATA)) }
    return .success(String(cString: text))
  }
}
