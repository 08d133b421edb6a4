/// Runs each provider in its own way: a command as a child, a unit through its socket.
struct ProviderRunner: ProviderRunning {
  let commands: ExecProvider
  let units: UnitProvider

  func run(_ invocation: ProviderInvocation) async -> ProviderRun {
    invocation.unit == nil ? await commands.run(invocation) : await units.run(invocation)
  }
}
