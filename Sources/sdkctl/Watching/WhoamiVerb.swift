import ArgumentParser
import JSONRPC
import SDKClient
import SDKProtocol

/// `sdkctl whoami`: shows the caller as the daemon identifies it, and its roles.
struct WhoamiVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "whoami", abstract: "Show who you are for the daemon, and what you may do.",
    discussion: "The daemon knows callers by the kernel. Roles: observe, use, control, each with those before.",
    examples: ["sdkctl whoami", "sudo -u kiosk sdkctl whoami"])

  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { true }

  func run(in context: CommandContext) async throws {
    let caller = Caller.process
    let rights = RightsCheck(caller: caller, context: context)
    let isAdmin = RightsCheck.isAdmin(try await context.ask(DaemonInfo.self, Empty()))
    let instances = try await context.instances(InstanceList.Params())
    var roles = JSONObject()
    for instance in instances {
      let id = instance["instance"]?.stringValue ?? "?"
      roles[id] = .string(isAdmin ? Role.admin.name : await rights.role(on: instance, id))
    }
    let result: JSONObject = [
      "user": .string(caller.name), "uid": JSON(Int(caller.uid)), "socket": .string(try global.location.path()),
      "admin": .bool(isAdmin), "roles": .object(roles),
    ]
    try context.presenter.show(.object(result)) {
      var rows: [[Table.Cell]] = [
        [.init("user", .bold), .init("\(caller.name) (uid \(caller.uid))")],
        [.init("daemon", .bold), .init(result["socket"].map(MemberTable.word) ?? "?")],
        [.init("admin", .bold), .init(isAdmin ? "yes: everything, on every instance" : "no")],
      ]
      if !isAdmin {
        rows += roles.members.map { [.init("  \($0.key)"), .init(MemberTable.word($0.value))] }
        if roles.isEmpty { rows.append([.init("roles", .bold), .init("on no instance")]) }
      }
      return Table(header: [], rows: rows)
    }
  }
}
