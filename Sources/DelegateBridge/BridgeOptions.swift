#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The settings of `[bridge]`.
public struct BridgeOptions: Sendable {
  /// The directories that programs must be in; an empty array allows every directory.
  public var allow: [String]
  /// Whether providers may run as children of the daemon.
  public var commands: Bool
  /// The folder with the sockets of providers that are systemd units.
  public var unitSockets: String
  /// The limits on concurrent provider runs.
  public var limits: SlotLimits
  /// The daemon's own environment. Providers get only a few of its variables.
  public var environment: [String: String]
  /// Whether the daemon becomes the subreaper of its descendants and kills processes that providers leave behind. The
  /// daemon must then start no child processes other than providers.
  public var sweeps: Bool

  /// The default folder of the sockets of providers.
  public static let standardUnitSockets = UnitName.standardSockets

  /// Creates settings. The default environment is that of the process.
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

/// A runner that starts commands as children and calls units through their sockets.
struct ProviderRunner: ProviderRunning {
  let commands: ExecProvider
  let units: UnitProvider

  func run(_ invocation: ProviderInvocation) async -> ProviderRun {
    invocation.unit == nil ? await commands.run(invocation) : await units.run(invocation)
  }
}
