/// Waiting that a cancelled task does as well: what must be cleaned up must be cleaned up.
enum Pause {
  /// Waits, whether or not the task is cancelled.
  static func uncancelled(_ length: Duration) async {
    await Task { try? await Task.sleep(for: length) }.value
  }
}
