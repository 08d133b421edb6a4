import JSONRPC
import SDKProtocol

/// The sources of a support bundle: calls to the daemon, programs of the machine, and the sizes of files.
struct BundleSources {
  /// The time limit of all calls to the daemon together, unless the command line gives one.
  static let patience = Duration.seconds(10)

  let context: CommandContext
  let place: DaemonPlace
  /// The user who runs the command.
  let caller: String
  /// Returns the findings of `sdkctl doctor` as text, each text of which is passed through a filter.
  let findings: ((String) -> String) -> String

  /// Gathers all sections. What can't be gathered is a section with the reason.
  func bundle(_ progress: Progress) async -> SupportBundle {
    progress.show("Asking the daemon …")
    let context = context.limited(to: Self.patience)
    let info = await Result { try await context.ask(DaemonInfo.self, Empty()) }
    let place = (try? info.get()).map(place.adding) ?? place
    let instances = await Result { try await context.instances(InstanceList.Params()) }
    let all = (try? instances.get()) ?? []
    progress.show("Reading the journal …")
    let units = BundleUnits(place: place, instances: all)
    let journal = Result { try units.journal() }
    let mask = BundleMask(instances: all, ids: (try? journal.get())?.users ?? [])

    var sections = [
      BundleSection(
        "bundle", from: place.name, "Made at \(Timestamp.now) by sdkctl \(SDKVersion.program), run by \(caller)."),
      BundleSection("versions", from: "the programs of this machine", BundleMachine.versions),
      BundleSection("machine", from: "/proc", BundleMachine.load),
      BundleSection("doctor", from: "sdkctl doctor", findings(mask.masked)),
    ]
    func add(_ name: String, from source: String, _ gather: () async throws -> String) async {
      progress.show("Gathering \(name) …")
      sections.append(await BundleSection(name, from: source, gather: gather))
    }
    await add("daemon", from: DaemonInfo.name) { OpenRPCDocument.text(of: mask.masked(try info.get())) }
    await add("health", from: DaemonHealth.name) {
      OpenRPCDocument.text(of: mask.masked(try await context.ask(DaemonHealth.self, Empty())))
    }
    await add("instances", from: InstanceList.name) {
      try instances.get().map { JSONWriter.text(of: Self.summary(of: $0)) }.joined(separator: "\n")
    }
    await add("metrics", from: DaemonMetrics.name) {
      try await context.ask(DaemonMetrics.self, Empty())["text"]?.stringValue ?? ""
    }
    await add("configuration", from: "sdkd --show-config") { try BundleMachine.configuration(place) }
    await add("units", from: "systemctl show") { mask.masked(try units.properties()) }
    await add("unit files", from: "systemctl cat") { mask.masked(UnitFileText.masked(try units.files())) }
    await add("limits", from: "/proc") { try BundleMachine.limits(of: info.get()["pid"]?.intValue) }
    await add("state", from: place.state ?? "the state directory") { try BundleMachine.files(place.state) }
    sections.append(
      await BundleSection("journal", from: "journalctl", keeping: .end) { try journal.get().text(mask) })
    let providers = Result { try units.providerJournal() }
    sections.append(
      await BundleSection("provider units", from: "journalctl", keeping: .end) { try providers.get().text(mask) })
    return SupportBundle(sections: sections, knowsUsers: (try? instances.get()) != nil)
  }

  /// The members of an instance that are shown as they are.
  private static let members = [
    "instance", "kind", "source", "state", "expiresAt", "degraded", "signIn", "bridge", "pending", "createdAt",
  ]

  /// Returns the description of an instance without users, labels and the values of settings.
  static func summary(of instance: JSON) -> JSON {
    var object = JSONObject()
    for name in members { object[name] = instance[name] }
    if let services = instance["services"]?.objectValue {
      let states = services.members.map { service -> (String, JSON) in
        var state = JSONObject()
        for name in ["state", "expiresAt"] { state[name] = service.value[name] }
        return (service.key, .object(state))
      }
      object["services"] = .object(JSONObject(states))
    }
    if let error = instance["lastError"] {
      var last = JSONObject()
      for name in ["reason", "at"] { last[name] = error[name] }
      object["lastError"] = .object(last)
    }
    object["settings"] = .array(instance["settings"]?.objectValue?.keys.map(JSON.string) ?? [])
    object["provider"] = instance["provider"].flatMap(provider)
    let rules = instance["access"]?.objectValue?.members.map { ($0.key, JSON($0.value.arrayValue?.count ?? 0)) }
    object["accessRules"] = .object(JSONObject(rules ?? []))
    return .object(object)
  }

  /// Returns the unit of a token provider, or its program without arguments, which may hold secrets.
  private static func provider(_ provider: JSON) -> JSON? {
    if let unit = provider["unit"]?.stringValue { return .string("unit:\(unit)") }
    guard provider["shell"]?.boolValue != true else { return "a shell command" }
    return provider["command"]?.arrayValue?.first
  }
}

extension Result where Failure == any Error {
  /// Creates the result of an asynchronous call.
  fileprivate init(catching body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
