import SQLite
import Testing
import Waiting

@testable import StateStore

/// A simulated disk whose operations fail at chosen moments.
final class Faults: Sendable {
  private struct Plan {
    var fails: @Sendable (StoreTuning.Moment) -> Bool = { _ in false }
    var remaining = 0
    var error = DatabaseError(resultCode: .full)
    var count = 0
  }

  private let plan = Seen(Plan())

  /// The number of failures so far.
  var count: Int { plan.value.count }

  /// Makes the next `times` operations fail at the moments for which `moment` returns true.
  func fail(
    _ times: Int = .max, with code: ResultCode = .full,
    at moment: @escaping @Sendable (StoreTuning.Moment) -> Bool
  ) {
    plan.update { plan in
      plan.fails = moment
      plan.remaining = times
      plan.error = DatabaseError(resultCode: code)
    }
  }

  func stop() { plan.update { $0.remaining = 0 } }

  var tuning: StoreTuning {
    var tuning = StoreTuning()
    tuning.at = { [self] moment, _ in
      let error = plan.update { plan -> DatabaseError? in
        guard plan.remaining > 0, plan.fails(moment) else { return nil }
        plan.remaining -= 1
        plan.count += 1
        return plan.error
      }
      if let error { throw error }
    }
    return tuning
  }
}

extension StoreTuning.Moment {
  var isBegun: Bool { if case .begun = self { true } else { false } }
}

/// Waits until a condition is true. Records an issue after 20 s.
func eventually(
  sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
  var patience = Patience()
  while try await !condition() {
    guard !patience.isOver() else {
      Issue.record("this never came true", sourceLocation: sourceLocation)
      return
    }
    await Task.yield()
  }
}
