import Glibc
import JSONRPC
import SDKProtocol

/// The check of an instance's token provider: whether its program may be run, and how the last run ended.
struct ProviderCheck {
  let instance: JSON
  /// The daemon's uid; `nil` if unknown.
  let daemon: UInt32?
  /// The daemon. The directory with the sockets of its provider units is known to admins only.
  let place: DaemonPlace

  var findings: [Finding] {
    let id = instance["instance"]?.stringValue ?? "?"
    let provider = instance["provider"]?.objectValue
    let program = program(id, provider)
    // A problem with the program is why the daemon refuses to run it.
    let refusal = provider == nil || program?.status == .failing ? nil : refusal(id)
    let found = [program, refusal, breaker(id)].compactMap(\.self)
    guard found.isEmpty, provider != nil else { return found }
    return [Finding(.ok, "provider", "\(id): \(Self.name(provider)) can be asked.")]
  }

  private static func name(_ provider: JSONObject?) -> String {
    if let unit = provider?["unit"]?.stringValue { return "the unit \(unit)" }
    return provider?["command"]?.arrayValue?.first?.stringValue ?? "the command"
  }

  private func program(_ id: String, _ provider: JSONObject?) -> Finding? {
    if let unit = provider?["unit"]?.stringValue {
      guard place.unitSockets != nil else {
        return Finding(
          .skipped, "provider", "\(id): only admins are told where the unit \(unit) should have its socket.")
      }
      return Self.missingSocket(of: unit, id: id, place) ?? closedSocket(of: unit, id: id)
    }
    guard provider?["shell"]?.boolValue != true, let path = provider?["command"]?.arrayValue?.first?.stringValue else {
      return nil
    }
    return ProgramPath(path: path, daemon: daemon, replacement: replacement(id)).problem.map { problem in
      Finding(.failing, "provider", "\(id): \(problem.message)", advice: problem.advice)
    }
  }

  /// Returns the advice for naming another program. A call can't change an instance that a file defines.
  private func replacement(_ id: String) -> String {
    instance["source"] == "file"
      ? "name another in its file in \(place.instanceFiles), then \(place.command("reload"))"
      : "name another: \(place.command("update \(id) --provider-command …"))"
  }

  /// Returns the finding for a provider that the daemon refused to run; `nil` if the last run was not refused.
  private func refusal(_ id: String) -> Finding? {
    guard instance["bridge"]?["lastExit"] == "notAllowed" else { return nil }
    let last = instance["lastError"]
    let isCause = last?["reason"]?.stringValue == Reason.providerNotAllowed.rawValue
    let why = (isCause ? last?["message"]?.stringValue : nil) ?? "The daemon refused to run the token provider."
    return Finding(.failing, "provider", "\(id): \(why)", advice: advice(id))
  }

  /// Returns the finding for a unit without a socket; `nil` if it has one, or if the caller can't know.
  static func missingSocket(of unit: String, id: String, _ place: DaemonPlace) -> Finding? {
    guard let socket = place.unitSockets.map({ "\($0)/\(unit).sock" }) else { return nil }
    guard access(socket, F_OK) != 0, errno == ENOENT else { return nil }
    return Finding(
      .failing, "provider", "\(id): there is no socket at \(socket).",
      advice: "systemctl enable --now \(socketUnit(of: unit, place))")
  }

  /// Returns the finding for a unit whose socket the daemon's user may not connect to; `nil` if it may, or if that is
  /// not known.
  private func closedSocket(of unit: String, id: String) -> Finding? {
    var status = stat()
    guard let daemon, daemon != 0, let socket = place.unitSockets.map({ "\($0)/\(unit).sock" }),
      stat(socket, &status) == 0, status.st_uid != daemon, status.st_mode & 0o022 == 0
    else { return nil }
    let name = Self.socketUnit(of: unit, place)
    let user = getpwuid(daemon).map { String(cString: $0.pointee.pw_name) } ?? "\(daemon)"
    return Finding(
      .failing, "provider", "\(id): the daemon's user \(user) may not connect to \(socket).",
      advice: "systemctl cat \(name); set SocketUser=\(user) there; systemctl daemon-reload; "
        + "systemctl restart \(name); \(place.command("refresh \(id)"))")
  }

  private static func socketUnit(of unit: String, _ place: DaemonPlace) -> String {
    "sdkd-provider-\(place.tenant.map { "\($0)-" } ?? "")\(unit).socket"
  }

  /// Returns the finding for a unit whose program does not exist or can't be executed, as its exit status says; `nil`
  /// for another status.
  private func unusableProgram(_ id: String, _ exit: String?) -> Finding? {
    let faults = ["126": ("can't be executed", "make it executable"), "127": ("does not exist", "install it")]
    guard let unit = instance["provider"]?["unit"]?.stringValue, let exit, let (what, cure) = faults[exit] else {
      return nil
    }
    let service = Self.socketUnit(of: unit, place).replacing(".socket", with: "@.service")
    return Finding(
      .failing, "provider",
      "\(id): the program of its provider, or one that it starts, \(what) (exit status \(exit)).",
      advice: "systemctl cat \(service) shows the program; \(cure); \(place.command("refresh \(id)"))")
  }

  private func breaker(_ id: String) -> Finding? {
    guard let bridge = instance["bridge"]?.objectValue, bridge["state"]?.stringValue != "closed" else { return nil }
    if let finding = unusableProgram(id, bridge["lastExit"]?.stringValue) { return finding }
    let words = BridgeWords.readable(instance, now: .now)["bridge"]
    let state = words?["state"]?.stringValue ?? "?"
    let last = words?["lastRun"]?.stringValue.map { "its provider \($0); " } ?? ""
    return Finding(
      .warning, "provider", "\(id): \(last)\(state).",
      advice: advice(id))
  }

  private func advice(_ id: String) -> String {
    "read why: \(place.command("logs \(id)")); then \(place.command("refresh \(id)"))"
  }
}
