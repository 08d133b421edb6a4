#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The settings of `[bridge]`.
public struct BridgeOptions: Sendable {
  /// The directories that programs must lie in; none means everywhere.
  public var allow: [String]
  /// Whether programs may run as children of the daemon.
  public var commands: Bool
  /// The folder with the sockets of providers that are systemd units.
  public var unitSockets: String
  /// How many providers run at a time.
  public var limits: SlotLimits
  /// The daemon's own environment, of which providers get little.
  public var environment: [String: String]
  /// Whether the process becomes the subreaper of its descendants and kills what providers leave behind. The process
  /// must then start nothing but providers.
  public var sweeps: Bool

  /// Where the sockets of providers are unless it is said otherwise.
  public static let standardUnitSockets = "/run/sdkd-providers"

  /// Settings; the environment is the process's if none is given.
  public init(
    allow: [String] = [], commands: Bool = true, unitSockets: String = Self.standardUnitSockets,
    limits: SlotLimits = SlotLimits(),
    environment: [String: String]? = nil, sweeps: Bool = true
  ) {
    self.allow = allow
    self.commands = commands
    self.unitSockets = unitSockets
    self.limits = limits
    self.environment = environment ?? ProcessInfo.processInfo.environment
    self.sweeps = sweeps
  }
}
