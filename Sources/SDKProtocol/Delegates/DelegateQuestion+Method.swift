extension DelegateQuestion.Name {
  /// The method name of the daemon's request.
  public var method: String { "delegate.\(rawValue)" }
}
