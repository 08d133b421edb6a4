/// A run's request for a slot.
struct SlotRequest: Sendable, Hashable {
  /// The number that identifies the run.
  let id: Int
  /// The key of the question. The queue is fair between instances.
  let key: BridgeKey
  /// The name of the instance, by which its runs are counted. A run of a deleted instance may still be in progress when
  /// a new instance gets the same name.
  let name: String
  /// The owner whose share the run counts against.
  let owner: ProviderOwner
  /// The maximum number of concurrent runs that the instance's provider allows.
  let concurrency: Int
}

/// The limits on concurrent provider runs.
public struct SlotLimits: Sendable, Hashable {
  /// The number of slots for runs that are expected to end soon: `bridge.max_concurrent`.
  public var concurrent: Int
  /// The number of runs in total, including those that freed their slot: `bridge.max_running`.
  public var running: Int
  /// The share of one owner. Owners within their share begin runs before owners over it.
  public var runningPerOwner: Int
  /// The number of runs in total up to which an owner over its share may begin another. The rest is a reserve for an
  /// owner that comes later while all of these hang.
  var runningOverShare: Int { max(1, running - min(runningPerOwner, running / 4)) }
  /// The number of runs in total for instances that files define, each of which has a share of its own. A quarter is
  /// left to the users.
  var runningForFiles: Int { max(1, running - running / 4) }
  /// The time after which a run that is still in progress frees its slot. It counts as long-running until it ends.
  public var slow: Duration

  /// Creates limits; each number is at least one.
  public init(
    concurrent: Int = 32, running: Int = 256, runningPerOwner: Int = 8, slow: Duration = .seconds(2)
  ) {
    self.concurrent = max(1, concurrent)
    self.running = max(1, running)
    self.runningPerOwner = max(1, runningPerOwner)
    self.slow = slow
  }
}

/// The user, or the instance that a file defines, whose share of the concurrent runs a run counts against.
enum ProviderOwner: Sendable, Hashable {
  /// The user that created the instance.
  case uid(UInt32)
  /// An instance that a file defines. All of these belong to the machine's administrator, so each has a share of its
  /// own. Otherwise one whose provider hangs would starve the others.
  case file(instance: String)

  /// Whether a file defines the instance.
  var isFile: Bool { if case .file = self { true } else { false } }
}

/// The number of concurrent provider runs and the typical duration of a run. The renewal schedule uses both to spread
/// renewals out.
public struct BridgePace: Sendable, Hashable {
  /// The maximum number of concurrent runs.
  public var slots: Int
  /// The maximum number of concurrent runs of one owner.
  public var slotsPerOwner: Int
  /// The typical duration of a run that was answered, in seconds; `nil` before the first.
  public var seconds: Double?

  /// Creates the numbers for the renewal schedule. Raises numbers of slots below one to one, and lowers
  /// `slotsPerOwner` to `slots`.
  public init(slots: Int, slotsPerOwner: Int, seconds: Double? = nil) {
    self.slots = max(1, slots)
    self.slotsPerOwner = max(1, min(slots, slotsPerOwner))
    self.seconds = seconds
  }
}

/// An exponentially weighted moving average of durations that rises faster (α = 0.5) than it falls (α = 0.125).
public struct TypicalTime: Sendable, Hashable {
  /// The average, in seconds; `nil` before the first sample.
  public private(set) var seconds: Double?

  /// Creates an average without samples.
  public init() {}

  /// Adds a sample in seconds, clamped to 0 … 600. Ignores one that is not finite.
  public mutating func note(_ sample: Double) {
    guard sample.isFinite else { return }
    let sample = min(max(sample, 0), 600)
    guard let former = seconds else {
      seconds = sample
      return
    }
    seconds = former + (sample - former) * (sample > former ? 0.5 : 0.125)
  }
}
