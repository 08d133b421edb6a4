/// A runner that starts commands as children and calls units through their sockets.
struct ProviderRunner: ProviderRunning {
  let commands: ExecProvider
  let units: UnitProvider

  func run(_ invocation: ProviderInvocation) async -> ProviderRun {
    invocation.unit == nil ? await commands.run(invocation) : await units.run(invocation)
  }
}
