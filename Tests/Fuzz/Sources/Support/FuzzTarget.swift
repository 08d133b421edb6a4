/// A parser or state machine of the daemon that takes any bytes.
struct FuzzTarget: Sendable {
  /// The name, also that of its corpus.
  let name: String
  /// The bytes of its longest inputs.
  let maximumLength: Int
  /// The cost that is allowed, as a multiple of the cost of plain JSON.
  let costFactor: Double
  /// The bytes that each line counts besides its own: a message has a cost of its own, however short it is.
  let bytesPerLine: Int
  /// Feeds an input to the code and checks what must hold afterwards.
  let run: @Sendable (Input) -> Void

  /// A target.
  init(
    _ name: String, maximumLength: Int = 16 << 10, costFactor: Double = 12, bytesPerLine: Int = 0,
    run: @escaping @Sendable (Input) -> Void
  ) {
    self.name = name
    self.maximumLength = maximumLength
    self.costFactor = costFactor
    self.bytesPerLine = bytesPerLine
    self.run = run
  }

  /// libFuzzer's limits for one input.
  var limits: [String] {
    ["-max_len=\(maximumLength)", "-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=256", "-print_funcs=0"]
  }

  /// Runs an input, and fails when its cost is out of proportion.
  func check(_ input: Input) {
    let lines = bytesPerLine == 0 ? 0 : input.bytes.count { $0 == UInt8(ascii: "\n") }
    CostLimit.check(input.bytes.count + lines * bytesPerLine, factor: costFactor) { run(input) }
  }

  /// All targets.
  static let all: [FuzzTarget] =
    [
      json, frames, connection, jwt, http, bayeux, webSocket, provider, configuration, instanceFile, values, urls,
      supplied, echo, access, subordinates, processes, journal, stored, metrics, shares, activation, handOver,
    ] + kinds
}

/// Ends the process, which makes the input a finding, unless a condition holds.
func require(_ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String) {
  if !condition() { fatalError(message()) }
}
