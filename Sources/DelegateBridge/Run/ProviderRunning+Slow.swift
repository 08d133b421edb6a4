extension ProviderRunning {
  /// Runs a provider, and calls `onSlow` once when the run lasts longer than `slow`.
  func running(
    _ invocation: ProviderInvocation, slow: Duration, clock: any Clock<Duration>,
    onSlow: @escaping @Sendable () -> Void
  ) async -> ProviderRun {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        do { try await clock.sleep(for: slow) } catch { return }
        onSlow()
      }
      let run = await run(invocation)
      group.cancelAll()
      return run
    }
  }
}
