import Glibc
import Linux
import Testing

@testable import Systemd

@Suite struct PeerUnitTests {
  /// A process with the units and owner that libsystemd would report.
  private struct Process: ProcessUnits {
    var system: String?
    var user: String?
    var uid: UInt32?
    var userError = ENODATA

    func systemUnit(of pid: Int32) -> Result<String, SystemCallError> { answer(system, ENODATA) }
    func userUnit(of pid: Int32) -> Result<String, SystemCallError> { answer(user, userError) }
    func owner(of pid: Int32) -> UInt32? { uid }

    private func answer(_ unit: String?, _ error: Int32) -> Result<String, SystemCallError> {
      unit.map { .success($0) } ?? .failure(SystemCallError("test", error))
    }
  }

  @Test func systemService() {
    let unit = PeerUnit.lookup(7, Process(system: "front-desk.service"))
    #expect(unit == .system("front-desk.service"))
    #expect(unit.system == "front-desk.service" && unit.user == nil)
  }

  @Test func userServiceIsNeverASystemUnit() {
    let process = Process(system: "user@1000.service", user: "front-desk.service", uid: 1000)
    let unit = PeerUnit.lookup(7, process)
    #expect(unit == .user(unit: "front-desk.service", uid: 1000))
    #expect(unit.system == nil)
    #expect(unit.user?.unit == "front-desk.service" && unit.user?.uid == 1000)
  }

  @Test func groupsThatAUserMadeHaveNoUnit() {
    #expect(PeerUnit.lookup(7, Process(system: "user@1000.service", uid: 1000)) == .none)
    let error = Process(system: "user@1000.service", uid: 1000, userError: ENXIO)
    #expect(PeerUnit.lookup(7, error) == .none)
  }

  @Test func doubtGrantsNothing() {
    #expect(PeerUnit.lookup(7, Process()) == .none)
    #expect(PeerUnit.lookup(7, Process(system: "a.service", user: "b.service")) == .none, "no owner")
    for error in [ESRCH, EACCES, ENOMEM, EIO] {
      #expect(PeerUnit.lookup(7, Process(system: "a.service", userError: error)) == .none)
    }
  }

  @Test func processesThatCannotBeSeen() {
    #expect(PeerUnit.lookup(pid: 0) == .none)
    #expect(PeerUnit.lookup(pid: -1) == .none)
    #expect(PeerUnit.lookup(pid: Int32.max) == .none)
  }
}
