import DelegateBridge
import JSONRPC
import SDKProtocol

/// `[bridge]`.
struct BridgeSettings: SettingValues, Hashable {
  /// The directories that providers must be in; an empty array allows every directory.
  var allow: [String] = []
  /// Whether a provider may run as a child of a system daemon, with its uid.
  var sameUid = false
  /// The folder with the sockets of providers that are systemd units; `nil` for the daemon's own.
  var unitSockets: String?
  /// The numbers of providers.
  var slots = SlotLimits()
}

extension BridgeSettings {
  static let table = SettingTable<Self>(
    name: "bridge", summary: "Token providers: the programs that are asked for credentials.",
    settings: [
      .setting(
        "allow", .array(.string(pattern: "^/", called: "absolute path")), example: "[\"/usr/libexec/sdkd\"]",
        "Providers must be in one of these directories; without this, in any."
      ) { reader, path, settings in
        let paths = reader.elements(String.self, at: path) {
          $0.hasPrefix("/") && !$0.split(separator: "/").contains("..")
            ? nil : "This must be an absolute path without \"..\"."
        }
        settings.allow = paths ?? []
      },
      .setting(
        "same_uid", .boolean, default: "false",
        "Whether a provider may run as a child of a system daemon. It then has the same uid and can read all state."
      ) { $2.sameUid = $0.json(at: $1)?.boolValue ?? $2.sameUid },
      .setting(
        "unit_sockets", .string(pattern: "^/", called: "absolute path"), example: "\"/run/front-desk-providers\"",
        """
        The folder with a socket NAME.sock for each provider with unit = \"NAME\"; without this \
        \(BridgeOptions.standardUnitSockets), and a folder below it for each tenant.
        """
      ) { reader, path, settings in
        settings.unitSockets = reader.value(String.self, at: path) {
          $0.hasPrefix("/") && $0.utf8.count <= 80 ? nil : "This must be an absolute path of at most 80 bytes."
        }
      },
      .integer("max_concurrent", \.slots.concurrent, 1...4096, "Providers that run at a time.").limiting(),
      .integer(
        "max_running", \.slots.running, 1...65_536,
        "Providers in all; max_concurrent does not count those that take longer than 2 s."
      ).limiting(),
    ]
  ) { reader, settings in
    let slots = settings.slots
    reader.check(("max_concurrent", slots.concurrent), isWithin: ("max_running", slots.running), of: "bridge")
  }
}
