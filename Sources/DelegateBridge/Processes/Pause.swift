/// A pause that cancellation doesn't shorten, for cleanup that must complete.
enum Pause {
  /// Waits, even when the task is cancelled.
  static func uncancelled(_ length: Duration) async {
    await Task { try? await Task.sleep(for: length) }.value
  }
}
