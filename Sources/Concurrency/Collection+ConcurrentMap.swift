extension Collection where Element: Sendable, Self: Sendable {
  /// Returns the results of `work` for all elements, in their order.
  ///
  /// - Parameter limit: the maximum number of works in progress.
  public func concurrentMap<Result: Sendable>(
    atMost limit: Int, _ work: @escaping @Sendable (Element) async -> Result
  ) async -> [Result] {
    var results = [Result?](repeating: nil, count: count)
    await withTaskGroup(of: (Int, Result).self) { group in
      for (index, element) in enumerated() {
        if index >= limit, let (done, result) = await group.next() { results[done] = result }
        group.addTask { (index, await work(element)) }
      }
      for await (done, result) in group { results[done] = result }
    }
    return results.compactMap { $0 }
  }
}
