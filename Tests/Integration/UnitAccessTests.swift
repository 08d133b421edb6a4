import Foundation
import Glibc
import JSONRPC
import Testing

/// Rules about systemd units, with real processes in control groups as systemd makes them, and libsystemd as the
/// reader.
@Suite(.enabled(if: ControlGroup.root != nil, "needs root and a cgroup2 hierarchy to put processes into units"))
struct UnitAccessTests {
  private let kiosk = "kiosk-\(UUID().uuidString.prefix(8).lowercased()).service"
  private let system = "system.slice"
  private func manager(_ uid: Int) -> String { "user.slice/user-\(uid).slice/user@\(uid).service/app.slice" }

  /// Returns whether a process in a control group may see the instance.
  private func sees(_ desk: Desk, _ group: ControlGroup?, uid: Int = 65534, isOrphaned: Bool = false) throws -> Bool {
    let caller = Caller(uid: uid, controlGroup: group?.path, isOrphaned: isOrphaned)
    return try caller.reason(desk, "instance.get", ["instance": "desk"]) == nil
  }

  @Test func aSystemUnitIsKnownByItsNameAndNothingElsePassesForIt() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect(), access: ["use": [.string("unit:\(kiosk)")]])
    let unit = try ControlGroup("\(system)/\(kiosk)")
    #expect(try sees(desk, unit))
    #expect(try sees(desk, unit, uid: 1))
    let within = try ControlGroup("\(system)/\(kiosk)/worker")
    #expect(try sees(desk, within), "a group that the unit made below itself is the unit's")
    #expect(try !sees(desk, nil))
    #expect(try !sees(desk, try ControlGroup("\(system)/other-\(kiosk)")))
    // Users may name their own units as they like.
    #expect(try !sees(desk, try ControlGroup("\(manager(1000))/\(kiosk)"), uid: 1000))
    #expect(try !sees(desk, try ControlGroup("user.slice/user-1000.slice/user@1000.service/\(kiosk)"), uid: 1000))
    #expect(try !sees(desk, try ControlGroup("user.slice/user-1000.slice/session-3.scope/\(kiosk)"), uid: 1000))
  }

  @Test func aUsersUnitIsKnownByItsNameAndUser() throws {
    let desk = try Desk.open()
    // Uid 1 is the user daemon on every Debian.
    try desk.create("desk", on: try desk.connect(), access: ["use": [.string("user-unit:\(kiosk)@daemon")]])
    let own = try ControlGroup("\(manager(1))/\(kiosk)")
    try eventually("the name is resolved") { try sees(desk, own, uid: 1) }
    #expect(try !sees(desk, try ControlGroup("\(manager(2))/\(kiosk)"), uid: 2))
    #expect(try !sees(desk, try ControlGroup("\(manager(2))/\(kiosk)"), uid: 1), "the manager's user counts")
    #expect(try !sees(desk, try ControlGroup("\(system)/\(kiosk)"), uid: 1))
    #expect(try !sees(desk, try ControlGroup("\(manager(1))/other.service"), uid: 1))
    #expect(try !sees(desk, nil, uid: 1))
  }

  @Test func `A program that a desktop has started in a scope is known by its application and user`() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect(), access: ["use": ["user-scope:front-desk@daemon"]])
    let number = UUID().uuidString.prefix(8).lowercased()
    func scope(_ uid: Int, _ name: String) throws -> ControlGroup {
      try ControlGroup("\(manager(uid))/app-\(name)-\(number).scope")
    }
    let own = try scope(1, #"gnome-front\x2ddesk"#)
    try eventually("the name is resolved") { try sees(desk, own, uid: 1) }
    #expect(try sees(desk, try scope(1, #"front\x2ddesk"#), uid: 1))
    #expect(try sees(desk, try scope(1, #"flatpak-front\x2ddesk"#), uid: 1))
    #expect(try !sees(desk, try scope(1, "gnome-front-desk"), uid: 1), "its parts are not known")
    #expect(try !sees(desk, try scope(1, "gnome-other"), uid: 1))
    #expect(try !sees(desk, try scope(2, #"gnome-front\x2ddesk"#), uid: 2))
    #expect(try !sees(desk, try scope(2, #"gnome-front\x2ddesk"#), uid: 1), "the manager's user counts")
    #expect(try !sees(desk, try ControlGroup("\(system)/app-gnome-front\\x2ddesk-\(number).scope"), uid: 1))
    #expect(try !sees(desk, nil, uid: 1))
  }

  @Test func allConditionsOfARuleMustHold() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect(), access: ["use": [.string("unit:\(kiosk)+user:daemon+group:games")]])
    let unit = try ControlGroup("\(system)/\(kiosk)")
    func sees(_ caller: Caller) throws -> Bool {
      try caller.reason(desk, "instance.get", ["instance": "desk"]) == nil
    }
    try eventually("the names are resolved") {
      try sees(Caller(uid: 1, groups: [60], controlGroup: unit.path))
    }
    #expect(try !sees(Caller(uid: 1, groups: [60])))
    #expect(try !sees(Caller(uid: 1, controlGroup: unit.path)))
    #expect(try !sees(Caller(uid: 2, groups: [60], controlGroup: unit.path)))
  }

  @Test func whoConnectedAndEndedHasNoUnit() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect(), access: ["use": [.string("unit:\(kiosk)")]])
    let unit = try ControlGroup("\(system)/\(kiosk)")
    #expect(try sees(desk, unit))
    #expect(try !sees(desk, unit, isOrphaned: true), "the process that is asked is not the one that connected")
  }

  @Test func aUnitCanBeAdminAndCreate() throws {
    let desk = try Desk.open(
      configuration: """
        [access]
        admins = ["unit:\(kiosk)"]
        [[access.create]]
        who = "unit:other-\(kiosk)"
        prefix = "kiosk-"
        max = 1
        """)
    try desk.create("desk", on: try desk.connect())
    let create: JSON = ["instance": "kiosk-1", "kind": "zendesk.messaging", "settings": ["app_id": "a"]]
    #expect(try sees(desk, try ControlGroup("\(system)/\(kiosk)")))
    let creator = try ControlGroup("\(system)/other-\(kiosk)")
    #expect(try !sees(desk, creator))
    #expect(try Caller(uid: 65534).reason(desk, "instance.create", create) == "accessDenied")
    #expect(
      try Caller(uid: 65534, controlGroup: creator.path).reason(desk, "instance.create", create) != "accessDenied")
  }

  /// Connects and calls; a child calls again on the same connection when a file is there, without its parent.
  private static let heir = """
    import json, os, socket, sys, time
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    f = s.makefile("rwb")
    def ask():
        f.write(b'{"jsonrpc":"2.0","id":1,"method":"instance.get","params":{"instance":"desk"}}\\n')
        f.flush()
        print("result" in json.loads(f.readline()), flush=True)
    ask()
    if os.fork(): os._exit(0)
    while not os.path.exists(sys.argv[2]): time.sleep(0.01)
    ask()
    """

  @Test("A connection keeps the unit of the process that made it over a replacement of the daemon")
  func unitOverAReplacement() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect(), access: ["use": [.string("unit:\(kiosk)")]])
    let unit = try ControlGroup("\(system)/\(kiosk)")
    let script = try desk.write("heir.py", Self.heir)
    let (out, go) = (desk.folder.appendingPathComponent("heir.out"), desk.folder.appendingPathComponent("go").path)
    let program = try Program(
      "/bin/sh",
      [
        "-c",
        "echo $$ > '\(unit.path)/cgroup.procs'; exec setpriv --reuid=65534 --regid=65534 --clear-groups "
          + "/usr/bin/python3 '\(script.path)' '\(desk.socket)' '\(go)'",
      ], output: out, log: desk.folder.appendingPathComponent("heir.err"))
    func said() -> String { (try? String(contentsOf: out, encoding: .utf8)) ?? "" }
    #expect(program.exit(within: 60) == 0, "\(program.logText)")
    #expect(said() == "True\n")
    try desk.replace()
    try desk.write("go", "")
    try eventually("the child has an answer") { said().split(separator: "\n").count == 2 }
    #expect(said() == "True\nTrue\n")
  }
}
