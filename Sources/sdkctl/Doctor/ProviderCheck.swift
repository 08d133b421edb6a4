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
    let unstarted = program == nil ? unstarted(id, provider) : nil
    let found = [program, refusal, unstarted, unstarted == nil ? breaker(id) : nil].compactMap(\.self)
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
      // Until the provider has run, the instance remembers the refusal.
      Finding(
        .failing, "provider", "\(id): \(problem.message)",
        advice: "\(problem.advice); then \(place.command("refresh \(id)"))")
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
      advice: place.isInContainer
        ? "set provider.command: no unit runs in a container"
        : "systemctl enable --now \(Self.name(ofUnit: unit, place)).socket")
  }

  /// Returns the finding for a unit whose socket the daemon's user may not connect to; `nil` if it may, or if that is
  /// not known.
  private func closedSocket(of unit: String, id: String) -> Finding? {
    var status = stat()
    guard let daemon, daemon != 0, let socket = place.unitSockets.map({ "\($0)/\(unit).sock" }),
      stat(socket, &status) == 0, status.st_uid != daemon, status.st_mode & 0o022 == 0
    else { return nil }
    let name = "\(Self.name(ofUnit: unit, place)).socket"
    let user = getpwuid(daemon).map { String(cString: $0.pointee.pw_name) } ?? "\(daemon)"
    return Finding(
      .failing, "provider", "\(id): the daemon's user \(user) may not connect to \(socket).",
      advice: "systemctl cat \(name); set SocketUser=\(user) there; systemctl daemon-reload; "
        + "systemctl restart \(name); \(place.command("refresh \(id)"))")
  }

  /// Returns the name of a provider's systemd units, without `@.service` and `.socket`.
  private static func name(ofUnit unit: String, _ place: DaemonPlace) -> String {
    "sdkd-provider-\(place.tenant.map { "\($0)-" } ?? "")\(unit)"
  }

  /// Returns the finding for a last run that ended with 127 or 126, which mean that a program was not found, or may not
  /// be executed; `nil` for any other end.
  private func unstarted(_ id: String, _ provider: JSONObject?) -> Finding? {
    guard let exit = instance["bridge"]?["lastExit"]?.stringValue, ["126", "127"].contains(exit) else { return nil }
    let what = exit == "127" ? "was not found" : "may not be executed"
    guard let unit = provider?["unit"]?.stringValue else {
      return Finding(
        .warning, "provider", "\(id): a program that its provider runs \(what) (exit status \(exit)).",
        advice: advice(id))
    }
    let service = "\(Self.name(ofUnit: unit, place))@.service"
    let words = ["systemctl"] + (place.mode == .user ? ["--user"] : []) + ["--no-pager", "cat", service]
    let text = (try? ChildProcess.run(words, until: .now + .seconds(2)))?.output ?? ""
    guard let path = Self.program(inUnit: text) else {
      return Finding(
        .failing, "provider", "\(id): the program of the unit \(unit) \(what) (exit status \(exit)).",
        advice: "see ExecStart= in: systemctl cat \(service)")
    }
    let program = "\(id): \(path), the program of the unit \(unit),"
    let refresh = place.command("refresh \(id)")
    var status = stat()
    if stat(path, &status) != 0, errno == ENOENT || errno == ENOTDIR {
      return Finding(
        .failing, "provider", "\(program) does not exist.",
        advice: "systemctl cat \(service) shows ExecStart=; install the program, or name another there; "
          + refresh)
    }
    if status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o111 != 0o111 {
      return Finding(
        .failing, "provider", "\(program) can't be executed by every user.", advice: "chmod 755 \(path); \(refresh)")
    }
    return Finding(
      .failing, "provider",
      "\(program) \(what) at its last run (exit status \(exit)), or the interpreter in its first line.",
      advice: "head -n 1 \(path); then \(refresh)")
  }

  /// Returns the provider's program in the text of a unit: the first argument of `sdkd-provider`.
  static func program(inUnit text: String) -> String? {
    let starts = text.split(separator: "\n").filter { $0.hasPrefix("ExecStart=/") }
    let words = starts.last?.dropFirst("ExecStart=".count).split { $0 == " " || $0 == "\t" } ?? []
    guard let first = words.first else { return nil }
    guard first.split(separator: "/").last == "sdkd-provider" else { return String(first) }
    return words.count > 1 && words[1].hasPrefix("/") ? String(words[1]) : nil
  }

  private func breaker(_ id: String) -> Finding? {
    guard let bridge = instance["bridge"]?.objectValue, bridge["state"]?.stringValue != "closed" else { return nil }
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
