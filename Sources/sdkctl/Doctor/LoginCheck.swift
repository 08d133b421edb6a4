import JSONRPC
import SDKProtocol

/// The check of the hints in the last login on each instance, such as a channel that authenticates users in another way
/// than the settings say. A login with hints has succeeded.
struct LoginCheck {
  let context: CommandContext

  /// The maximum number of pages of events that are read.
  private static let mostPages = 20

  /// Returns a finding for each hint about an instance with a user. Hints of one word are about that one credential.
  func findings(_ instances: [JSON], _ place: DaemonPlace) async -> [Finding] {
    let present = Set(
      instances.filter { ["authenticated", "refreshing"].contains($0["state"]?.stringValue) }.compactMap {
        $0["instance"]?.stringValue
      })
    guard !present.isEmpty else { return [] }
    var hints: [String: [String]] = [:]
    var since: String?
    for _ in 0..<Self.mostPages {
      let params = EventsList.Params(types: [.userLoggedIn], since: since, limit: 500)
      guard let page = try? await context.ask(EventsList.self, params) else { break }
      for event in page["events"]?.arrayValue ?? [] {
        guard let id = event["instance"]?.stringValue, present.contains(id) else { continue }
        hints[id] = event["data"]?["hints"]?.arrayValue?.compactMap(\.stringValue) ?? []
      }
      since = page["next"]?.stringValue
      if since == nil { break }
    }
    return hints.sorted { $0.key < $1.key }.flatMap { id, hints in
      hints.filter { $0.contains(" ") }.map {
        Finding(
          .warning, "login", "\(id): the last login has the hint \($0)", advice: place.command("show \(id)"))
      }
    }
  }
}
