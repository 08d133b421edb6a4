import Glibc
import SDKClient
import SDKProtocol

extension CommandFailure {
  /// Adds what the user can do about the failure of a verb: the nearest instance, the unit or socket that is meant, and
  /// commands in place of methods.
  mutating func addHints(for verb: any Verb, _ context: CommandContext) async {
    switch reason {
    case "noDaemon":
      hints = (try? DaemonPlace(verb.global.location)).map(Self.withoutDaemon) ?? []
    case Reason.instanceNotFound.rawValue:
      if let id = rpc?.data["instance"]?.stringValue, let near = await Self.nearest(to: id, context) {
        hints.insert("did you mean \(near)?", at: 0)
      }
    case Reason.keyMissing.rawValue:
      // The keys are about this machine.
      let place = context.remote == nil ? try? DaemonPlace(verb.global.location) : nil
      if !isAboutModes, let hint = place.flatMap(Self.withoutKey) { hints.append(hint) }
    default: break
    }
    guard rpc != nil, !(verb is CallVerb), reason != "invalidParams", reason != "methodNotFound" else { return }
    message = CommandWords.translated(message)
    hints = hints.map(CommandWords.translated)
  }

  /// Returns the instance whose id is nearest; `nil` if none is near, or the daemon does not answer at once.
  private static func nearest(to id: String, _ context: CommandContext) async -> String? {
    var quick = context
    quick.budget = CallBudget(.seconds(1))
    let instances = (try? await quick.instances(InstanceList.Params())) ?? []
    return id.nearest(in: instances.compactMap { $0["instance"]?.stringValue }.filter { $0 != id })
  }

  /// Returns the hint for a state whose key is missing; `nil` for a daemon that loads no credential.
  static func withoutKey(_ place: DaemonPlace) -> String? {
    guard place.keyRecovery != nil else { return nil }
    return "\(place.command("key init --recovery")) makes the credential again from the recovery key of the state"
  }

  /// Returns hints for a socket without a listener.
  private static func withoutDaemon(_ place: DaemonPlace) -> [String] {
    var status = stat()
    if stat(place.socket, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
      return ["\(place.socket) is no socket; see what it is: ls -l \(place.socket)"]
    }
    guard let unit = place.unit else {
      let isVariable = getenv("SDKD_SOCKET").map { String(cString: $0) == place.socket } ?? false
      return [place.startByHand] + (isVariable ? ["the path is that in SDKD_SOCKET"] : [])
    }
    return ["systemctl \(place.mode == .user ? "--user " : "")status \(unit).socket \(unit).service"]
  }
}

/// The words of the command line for the methods that messages of the daemon name.
enum CommandWords {
  private static let common: [(method: String, command: String)] = [
    ("events.subscribe or events.list", "sdkctl events -o jsonl"),
    ("instance.list", "sdkctl list"), ("instance.get", "sdkctl show"), ("instance.create", "sdkctl create"),
    ("instance.update", "sdkctl update"), ("instance.delete", "sdkctl delete"),
    ("instance.currentUser", "sdkctl show"), ("daemon.health", "sdkctl status"), ("daemon.info", "sdkctl status"),
    ("daemon.reload", "sdkctl reload"), ("daemon.backup", "sdkctl backup"),
    ("daemon.rotateKey", "sdkctl key rotate"), ("token.get", "sdkctl token"), ("token.refresh", "sdkctl refresh"),
    ("session.open", "sdkctl open"), ("events.list", "sdkctl events"), ("events.subscribe", "sdkctl events --follow"),
    ("push.list", "sdkctl push list"), ("storage.list", "sdkctl storage list"),
    ("rpc.discover", "sdkctl call rpc.discover"),
  ]

  /// Returns a text with commands in place of methods.
  static func translated(_ text: String) -> String {
    guard text.contains(".") else { return text }
    var text = text
    for (method, command) in common + ofKinds where text.contains(method) {
      text = text.replacing("call \(method)", with: "run \(command)").replacing(method, with: command)
    }
    return text
  }
}
