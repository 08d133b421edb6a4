import JSONRPC
import SDKClient
import SDKProtocol

/// The check of the caller's roles on the instances.
struct RightsCheck {
  let caller: Caller
  let context: CommandContext

  /// Returns whether the caller is an admin, from the result of `daemon.info`: it tells only admins the paths.
  static func isAdmin(_ info: JSON) -> Bool { info["paths"]?.objectValue != nil }

  /// Returns one finding, with advice for a caller who sees no instance.
  func findings(_ instances: [JSON], isAdmin: Bool, _ place: DaemonPlace) async -> [Finding] {
    if isAdmin {
      return [Finding(.ok, "rights", "\(caller.name) is admin: everything, on \(Self.count(instances.count)).")]
    }
    guard !instances.isEmpty else {
      return [
        Finding(
          .warning, "rights", "\(caller.name) sees no instance.",
          advice: "have an admin add user:\(caller.name) to the rules that \(place.command("show INSTANCE")) lists; "
            + "\(place.command("update INSTANCE --access-use …")) replaces all rules of the role, and an instance "
            + "whose source is a file has its rules in \(place.instanceFiles)")
      ]
    }
    var byRole: [String: [String]] = [:]
    for instance in instances {
      let id = instance["instance"]?.stringValue ?? "?"
      byRole[await role(on: instance, id), default: []].append(id)
    }
    let words = ["control", "use", "observe"].compactMap { role in
      byRole[role].map { "\(role) on \($0.prefix(10).joined(separator: ", "))\($0.count > 10 ? ", …" : "")" }
    }
    return [Finding(.ok, "rights", "\(caller.name) has \(words.joined(separator: "; ")).")]
  }

  /// Returns a warning for each name in the instances' rules that this machine does not know.
  static func unknownNames(
    _ instances: [JSON], _ place: DaemonPlace, until deadline: ContinuousClock.Instant
  ) -> [Finding] {
    // Many instances have the same rules.
    let byRules = Dictionary(grouping: instances) { instance in
      instance["access"].flatMap { try? JSONValueDecoder.decode(AccessRules.self, from: $0) } ?? AccessRules()
    }
    let all = byRules.map { rules, instances in
      (id: instances.compactMap { $0["instance"]?.stringValue }.min() ?? "?", rules: rules)
    }
    func finding(_ id: String, _ sentence: String, or advice: String) -> Finding {
      Finding(
        .warning, "rights", "\(id): \(sentence)",
        advice: "correct the rule (\(place.command("show \(id)")) has all), or \(advice)")
    }
    let names = all.flatMap { id, rules in
      UnknownNames.sentences(in: rules, until: deadline).map { finding(id, $0, or: "add the name") }
    }
    let unknown = UnknownNames.units(in: byRules.keys, until: deadline)
    let units = all.flatMap { id, rules in
      unknown.filter(UnknownNames.units(of: rules).contains).map {
        finding(
          id, "systemd knows no unit \($0), so a rule with it matches no caller now.",
          or: "install the unit (one of systemd-run exists only while it runs)")
      }
    }
    return (names + units).sorted { $0.message < $1.message }
  }

  private static func count(_ number: Int) -> String { number == 1 ? "1 instance" : "\(number) instances" }

  /// Returns the caller's role by the rules. The rules don't list an instance's owner, so below `use` a test call
  /// decides between `observe` and `use`.
  func role(on instance: JSON, _ id: String) async -> String {
    let rules = instance["access"].flatMap { try? JSONValueDecoder.decode(AccessRules.self, from: $0) }
    let found = rules.flatMap { caller.role(by: $0) } ?? .observe
    guard found < .use, let id = InstanceID(id) else { return found.name }
    return (try? await context.ask(StorageList.self, .init(instance: id))) == nil ? Role.observe.name : Role.use.name
  }
}
