import JSONRPC
import SDKClient
import SDKProtocol

/// A diagnosis of a daemon with the caller's rights: first the socket and the daemon, then the machine around it.
struct Doctor {
  /// The time limit of all calls to the daemon together. With the other checks, a hanging daemon is reported in 5 s.
  static let patience = Duration.seconds(3)
  /// The time limits of the programs that other checks run: `hurry` after a failed call, `leisure` otherwise.
  private static let hurry = Duration.seconds(1)
  private static let leisure = Duration.seconds(30)

  let context: CommandContext
  let place: DaemonPlace
  /// The user who runs the checks.
  let caller: Caller

  /// Returns all findings, in the order of the checks.
  func findings(_ progress: Progress) async -> [Finding] {
    var found: [Finding] = []
    func add(_ more: [Finding], next: String) {
      found += more
      progress.show("Looking at \(next) …")
    }
    add([], next: "the socket")
    // systemd answers at once, unless the machine is very busy.
    let units = UnitAnswer(place, until: .now + Self.patience)
    let socket = SocketCheck(place: place, caller: caller, cure: units.cure)
    add([socket.finding] + units.findings, next: "the daemon")
    let daemon = await reach(cure: units.cure)
    let unitLimit = units.check?.service.descriptors
    guard let info = daemon.info else {
      let descriptors = [DescriptorCheck.finding(process: nil, unit: unitLimit, self.place)].compactMap(\.self)
      return found + daemon.findings + descriptors + around(self.place, within: Self.hurry)
    }
    let place = place.adding(info)
    let isAdmin = RightsCheck.isAdmin(info)
    let instances = (try? await context.instances(InstanceList.Params())) ?? []
    let rights =
      await RightsCheck(caller: caller, context: context).findings(instances, isAdmin: isAdmin, place)
      + RightsCheck.unknownNames(instances, place, until: .now + Self.hurry)
    let document = (try? await context.ask(RPCDiscover.self, Empty())) ?? [:]
    guard context.budget.left > .zero else {
      // Findings based on unanswered calls would be wrong, so they are left out.
      let message = "The daemon has not answered all questions in \(limit)."
      return found + [unanswered(message)] + around(place, within: Self.hurry)
    }
    add(daemon.findings + rights, next: "the token providers")
    let uid = info["pid"]?.intValue.flatMap(ProcStatus.uid)
    add(
      instances.flatMap { ProviderCheck(instance: $0, daemon: uid, place: place).findings }, next: "the instances")
    add(instances.flatMap { Self.state(of: $0, place) }, next: "the logins")
    add(await LoginCheck(context: context).findings(instances, place), next: "the vendors")
    let vendors = VendorCheck(
      origins: VendorCheck.origins(of: instances, document), proxy: info["proxy"]?["url"]?.stringValue,
      exceptions: info["proxy"]?["exceptions"]?.arrayValue?.compactMap(\.stringValue) ?? [],
      knowsProxy: isAdmin,
      authorities: TrustedAuthorities(
        place.configuration.flatMap { try? FileSettings(of: $0, until: .now + Self.hurry) },
        process: info["pid"]?.intValue))
    add(vendors.findings(), next: "configuration, key, disk, clock and journal")
    let descriptors = [DescriptorCheck.finding(process: info["pid"]?.intValue, unit: unitLimit, place)].compactMap(
      \.self)
    return found + descriptors + around(place, within: Self.leisure)
  }

  /// Returns the findings of the checks that need no daemon.
  private func around(_ place: DaemonPlace, within limit: Duration) -> [Finding] {
    let deadline = ContinuousClock.now + limit
    return [
      ConfigurationCheck(place: place, deadline: deadline).finding,
      KeyCheck(place: place, caller: caller, deadline: deadline).finding, StateFilesCheck(place: place).finding,
      DiskCheck(place: place).finding, ClockCheck.finding(until: deadline),
      JournalCheck(place: place, caller: caller, deadline: deadline).finding,
    ].compactMap(\.self)
  }

  /// Returns the finding for a daemon that accepts connections but does not respond.
  private func unanswered(_ message: String) -> Finding {
    Finding(.failing, "daemon", message, advice: place.systemctl("restart", "service", byHand: "restart it"))
  }

  private func reach(cure: String?) async -> (info: JSON?, findings: [Finding]) {
    let start = ContinuousClock.now
    do {
      let info = try await context.ask(DaemonInfo.self, Empty())
      let took = start.duration(to: .now) / .milliseconds(1)
      return (info, [daemon(info, milliseconds: took)] + (await health(place.adding(info))))
    } catch {
      let failure = CommandFailure(error)
      let message = failure?.message ?? "The daemon can't be asked."
      if failure?.reason == SDKClientError.timeout.reason {
        return (nil, [unanswered("The daemon has not answered in \(limit).")])
      }
      return (
        nil,
        [
          Finding(
            .failing, "daemon", message,
            advice: cure ?? place.systemctl("status", "service", byHand: place.startByHand))
        ]
      )
    }
  }

  /// The time limit of the calls to the daemon, as text.
  private var limit: String { Elapsed.text(seconds: (context.timeout?.duration ?? Self.patience) / .seconds(1)) }

  private func daemon(_ info: JSON, milliseconds: Double) -> Finding {
    func word(_ name: String) -> String { info[name].map(MemberTable.word) ?? "?" }
    let started = info["startedAt"]?.stringValue.flatMap({ Timestamp($0) })
    let uptime = started.map { ", up \(Elapsed.text(seconds: .now - $0))" } ?? ""
    let text =
      "\(word("name")) \(word("version")), pid \(word("pid"))\(uptime), answers in \(Figure.number(milliseconds)) ms."
    guard word("version") == SDKVersion.program else {
      return Finding(
        .warning, "daemon", text + " This sdkctl is \(SDKVersion.program).",
        advice: "restart the daemon after an upgrade"
          + (place.unit == nil ? "" : ": " + place.systemctl("restart", "service", byHand: "")))
    }
    return Finding(.ok, "daemon", text)
  }

  private func health(_ place: DaemonPlace) async -> [Finding] {
    guard let health = try? await context.ask(DaemonHealth.self, Empty()) else {
      return [Finding(.failing, "health", "The daemon does not say how it is.")]
    }
    let bad = (health["checks"]?.arrayValue ?? []).filter { check in
      // After a restore the daemon works, and a person has to delete the former state.
      check["status"]?.stringValue != "ok" || check["name"] == "setAside" && check["detail"] != nil
    }
    guard !bad.isEmpty else { return [Finding(.ok, "health", "The daemon finds nothing wrong with itself.")] }
    let recovery = await needsKey() ? place.keyRecovery : nil
    let journal =
      place.unit.map { "journalctl \(place.mode == .user ? "--user " : "")-x -p warning -u \($0).service" }
      ?? "read its log, which is its standard error"
    return bad.map { check in
      let name = check["name"]?.stringValue ?? "?"
      let isFailing = check["status"]?.stringValue == "failing"
      let detail = check["detail"]?.stringValue ?? "Only an admin is told why."
      let advice =
        switch name {
        case "configuration" where isFailing || detail.hasPrefix("the last good"): ConfigurationCheck.advice(place)
        case "configuration", "metrics": "after that: \(ConfigurationCheck.reload(place))"
        case "state": recovery ?? journal
        case "setAside": Self.removal(of: detail, place) ?? journal
        default: journal
        }
      return Finding(isFailing ? .failing : .warning, "health", "\(name): \(detail)", advice: advice)
    }
  }

  /// Returns the command that deletes the files that the detail of the check `setAside` names before the colon, with
  /// SQLite's own files beside them; `nil` if the directory of the state is not known.
  static func removal(of detail: String, _ place: DaemonPlace) -> String? {
    guard let state = place.state, let list = detail.split(separator: ":").first else { return nil }
    let names = list.split(separator: ",").map { $0.drop { $0 == " " } }
    guard names.allSatisfy({ $0.hasPrefix("state.db.") && !$0.contains(" ") }) else { return nil }
    // Of files of the same second, the name of the first begins those of the others.
    let firsts = names.filter { name in !names.contains { $0 != name && name.hasPrefix($0) } }
    return "rm " + firsts.map { "\(state)/\($0)*" }.joined(separator: " ")
  }

  /// Returns whether the daemon can't open its state because it lacks the right key.
  private func needsKey() async -> Bool {
    do {
      _ = try await context.ask(InstanceList.self, InstanceList.Params())
      return false
    } catch {
      return CommandFailure(error).map { $0.reason == Reason.keyMissing.rawValue && !$0.isAboutModes } ?? false
    }
  }

  /// Returns a finding for an instance that needs an action by a person.
  private static func state(of instance: JSON, _ place: DaemonPlace) -> [Finding] {
    let id = instance["instance"]?.stringValue ?? "?"
    let last = instance["lastError"]?["message"]?.stringValue.map { ": \($0)" } ?? "."
    switch instance["state"]?.stringValue {
    case "reauthNeeded":
      return [
        Finding(.warning, "instance", "\(id) needs a new credential\(last)", advice: place.command("login \(id)"))
      ]
    case "locked":
      return [
        Finding(.warning, "instance", "\(id) is locked by its vendor\(last)", advice: place.command("show \(id)"))
      ]
    case "quarantined":
      return [
        Finding(
          .warning, "instance", "\(id) is quarantined\(last)",
          advice: "\(place.command("restore")), or: \(place.command("delete \(id)"))")
      ]
    default: return []
    }
  }
}
