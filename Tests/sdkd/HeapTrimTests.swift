import Testing

@testable import sdkd

/// The decision when free memory goes back to the system.
@Suite struct HeapTrimTests {
  /// Returns the numbers of the readings at which a trim is due. It gives nothing back.
  ///
  /// - Parameter readings: the processor seconds of each interval, and the MiB in use after it.
  private func due(_ readings: [(used: Double, memory: Double)]) -> [Int] {
    var trim = HeapTrim()
    var time = 0.0
    return readings.enumerated().compactMap { number, reading in
      time += reading.used
      let memory = reading.memory * 1024 * 1024
      guard trim.isDue(processorTime: time, memory: memory) else { return nil }
      trim.trimmed(to: memory)
      return number
    }
  }

  @Test func `The start is a burst`() {
    #expect(due([(0.5, 20), (0.01, 20), (0.01, 20), (0, 20)]) == [1])
  }

  @Test func `A burst is over when the processor time falls to a quarter`() {
    let calm = [(0.5, 20.0), (0.01, 20)]
    #expect(due(calm + [(4, 40), (4, 40), (1.1, 40), (1, 40), (0.1, 40)]) == [1, 5])
    #expect(due(calm + [(4, 40), (4, 40), (4, 40), (4, 40)]) == [1], "while it lasts")
  }

  @Test func `Less than the growth since the last trim is not trimmed`() {
    let calm = [(0.5, 20.0), (0.01, 20)]
    #expect(due(calm + [(4, 23.9), (0.1, 23.9), (4, 23.9), (0.1, 23.9)]) == [1])
    #expect(due(calm + [(4, 24), (0.1, 24), (4, 24), (0.1, 24)]) == [1, 3], "it counts from what was left")
  }

  @Test func `Memory that was given back by itself counts as growth when it is needed again`() {
    #expect(due([(0.5, 40), (0.01, 40), (0.01, 20), (4, 30), (0.1, 30)]) == [1, 4])
  }
}
