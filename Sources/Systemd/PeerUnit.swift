import CSystemd
import Glibc

/// The systemd unit that a process belongs to: of the system or of a user, never both.
///
/// Every process below `user@1000.service` has that as its system unit, too. Who may name a system unit in an
/// access rule means a service that an administrator installed, so such a process counts as one of its user,
/// whatever it calls its unit.
public enum PeerUnit: Sendable, Hashable {
  /// No unit, or it could not be told, which must not grant anything.
  case none
  /// A unit of the system's manager, such as `front-desk.service`.
  case system(String)
  /// A unit of a user's manager, and the user.
  case user(unit: String, uid: UInt32)

  /// The unit, if it is one of the system.
  public var system: String? {
    if case .system(let unit) = self { unit } else { nil }
  }

  /// The unit and its owner, if it is one of a user.
  public var user: (unit: String, uid: UInt32)? {
    if case .user(let unit, let uid) = self { (unit, uid) } else { nil }
  }

  /// Looks up the unit of a process by its control group, in `/proc`.
  ///
  /// A process id can be used again while we look: the caller must know that the process lived before and after.
  /// ``none`` also for processes hidden by `ProtectProc=` and for process id 0, which stands for a process
  /// of another namespace.
  public static func lookup(pid: Int32) -> PeerUnit { pid > 0 ? lookup(pid, LibsystemdUnits()) : .none }

  static func lookup(_ pid: Int32, _ units: some ProcessUnits) -> PeerUnit {
    switch units.userUnit(of: pid) {
    case .success(let unit):
      guard let uid = units.owner(of: pid) else { return .none }
      return .user(unit: unit, uid: uid)
    case .failure(let error) where error.errorNumber == ENODATA || error.errorNumber == ENXIO:
      // A user can make control groups below its manager that are no unit: then only this gives it away.
      guard case .success(let unit) = units.systemUnit(of: pid), !isUserManager(unit) else { return .none }
      return .system(unit)
    case .failure:
      return .none
    }
  }

  private static func isUserManager(_ unit: String) -> Bool {
    unit.hasPrefix("user@") && unit.hasSuffix(".service")
  }
}
