import JSONRPC
import SDKProtocol

/// The state of an instance's provider and delegates, in words for people.
enum BridgeWords {
  /// Returns the instance with its `bridge` in words, and all else unchanged.
  static func readable(_ instance: JSON, now: Timestamp) -> JSON {
    guard var object = instance.objectValue, let bridge = object["bridge"]?.objectValue else { return instance }
    var words = JSONObject()
    // Only admins see the provider. Without one there is nothing that could be paused.
    let isQuiet = bridge["state"]?.stringValue == "closed" && (object["provider"] ?? .null).isNull
    if !isQuiet { words["state"] = .string(state(bridge, now)) }
    if let lastExit = bridge["lastExit"]?.stringValue { words["lastRun"] = .string(lastRun(lastExit)) }
    if let attached = bridge["attached"]?.intValue, attached > 0 {
      words["delegates"] = .string(attached == 1 ? "1 attached" : "\(attached) attached")
    }
    object["bridge"] = .object(words)
    return .object(object)
  }

  private static func state(_ bridge: JSONObject, _ now: Timestamp) -> String {
    switch bridge["state"]?.stringValue {
    case "closed": return "not paused"
    case "halfOpen": return "trying again after failures"
    case "open":
      guard let next = bridge["nextAttemptAt"]?.stringValue, let time = Timestamp(next) else {
        return "waiting after failures"
      }
      let left = max(0, time - now)
      let length = left < 120 ? "\(Int(left.rounded(.up))) s" : "\(Int((left / 60).rounded(.up))) min"
      return "waiting after failures; asks again in \(length), or at once after sdkctl refresh"
    case let other: return other ?? "-"
    }
  }

  private static func lastRun(_ exit: String) -> String {
    switch exit {
    case "0": "answered"
    case "75": "asked to try later (exit status 75)"
    case "77": "said no (exit status 77)"
    case "126": "could not execute its program (exit status 126)"
    case "127": "did not find its program (exit status 127)"
    case "timeout": "took too long and was ended"
    case "output": "gave no answer that could be used"
    case "notAllowed": "was not begun: the program may not be run"
    case "notStarted": "could not be started"
    case "lost": "ended without saying how"
    default: exit.hasPrefix("signal ") ? "was ended by \(exit)" : "failed with exit status \(exit)"
    }
  }
}
