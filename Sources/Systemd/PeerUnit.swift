import CSystemd
import Glibc
import Linux

/// The systemd unit of a process: a unit of the system or of a user, never both.
///
/// Every process below `user@1000.service` also has that service as its system unit. A system unit in an access rule
/// means a service that an administrator installed. Such a process therefore counts as one of its user, whatever its
/// unit's name.
public enum PeerUnit: Sendable, Hashable {
  /// No unit, or an unknown one. It must not grant anything.
  case none
  /// A unit of the system's service manager, such as `front-desk.service`.
  case system(String)
  /// A unit of a user's service manager, with the user.
  case user(unit: String, uid: UInt32)

  /// The unit if it is one of the system; nil otherwise.
  public var system: String? {
    if case .system(let unit) = self { unit } else { nil }
  }

  /// The unit and its owner if it is one of a user; nil otherwise.
  public var user: (unit: String, uid: UInt32)? {
    if case .user(let unit, let uid) = self { (unit, uid) } else { nil }
  }

  /// Looks up the unit of a process by its control group in `/proc`.
  ///
  /// A process id can be reused during the lookup: the caller must know that the process lived before and after.
  /// Returns ``none`` also for processes hidden by `ProtectProc=` and for process id 0, which means a process of
  /// another namespace.
  public static func lookup(pid: Int32) -> PeerUnit { pid > 0 ? lookup(pid, LibsystemdUnits()) : .none }

  static func lookup(_ pid: Int32, _ units: some ProcessUnits) -> PeerUnit {
    switch units.userUnit(of: pid) {
    case .success(let unit):
      guard let uid = units.owner(of: pid) else { return .none }
      return .user(unit: unit, uid: uid)
    case .failure(let error) where error.errorNumber == ENODATA || error.errorNumber == ENXIO:
      // A user can create control groups below its manager that are not units. Only the system unit then shows that the
      // process is a user's.
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
