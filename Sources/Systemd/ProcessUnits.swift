import CSystemd
import Glibc
import Linux

/// A source of the units of processes. Tests replace it, since they have neither users nor units.
protocol ProcessUnits {
  /// Returns the name of the unit in which the system's service manager runs a process.
  func systemUnit(of pid: Int32) -> Result<String, SystemCallError>
  /// Returns the name of the unit in which a user's service manager runs a process. Fails with ENODATA or ENXIO if no
  /// user's manager runs it.
  func userUnit(of pid: Int32) -> Result<String, SystemCallError>
  /// Returns the uid of the user whose service manager or session runs a process; nil if there is none.
  func owner(of pid: Int32) -> UInt32?
}

/// The source that uses `sd_pid_get_unit(3)` and related functions.
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
