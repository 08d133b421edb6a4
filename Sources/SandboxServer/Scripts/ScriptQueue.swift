import JSONRPC

/// The pending scripts, in the order in which they were posted.
struct ScriptQueue: Sendable {
  private(set) var scripts: [ResponseScript] = []
  private(set) var frameScripts: [FrameScript] = []

  /// Adds a script, or all scripts of an array. If one is invalid, adds none.
  mutating func add(_ tree: JSON?) throws(ControlMistake) {
    guard let tree else { throw ControlMistake(nil, "the body must be JSON: a script or an array of scripts") }
    let trees: [JSON] = if case .array(let trees) = tree { trees } else { [tree] }
    var added: [ResponseScript] = []
    var addedFrames: [FrameScript] = []
    for tree in trees {
      if FrameScript.isMeant(by: tree) {
        addedFrames.append(try FrameScript(tree))
      } else {
        added.append(try ResponseScript(tree))
      }
    }
    guard scripts.count + frameScripts.count + trees.count <= SandboxLimits.scripts else {
      throw ControlMistake(nil, "at most \(SandboxLimits.scripts) scripts wait at a time")
    }
    scripts += added
    frameScripts += addedFrames
  }

  /// Returns the first posted script that matches the request, and counts one use of it.
  mutating func take(method: String, path: [String]) -> ResponseScript? {
    guard let index = scripts.firstIndex(where: { $0.route.matches(method: method, path: path) }) else { return nil }
    let script = scripts[index]
    if let remaining = script.remaining {
      if remaining > 1 { scripts[index].remaining = remaining - 1 } else { scripts.remove(at: index) }
    }
    return script
  }

  /// Returns the first posted script that matches a frame with these `events`, and counts one use of it.
  ///
  /// `path` begins with the SDK's prefix.
  mutating func take(path: [String], events: [String]) -> FrameScript? {
    takeFrame { $0.matches(path: path, events: events) }
  }

  /// Returns the first posted script whose event is `ping`, and counts one use of it. A script for any frame is no
  /// match.
  mutating func takePing(path: [String]) -> FrameScript? {
    takeFrame { $0.event == "ping" && $0.matches(path: path, events: ["ping"]) }
  }

  private mutating func takeFrame(_ fits: (RoutePattern) -> Bool) -> FrameScript? {
    guard let index = frameScripts.firstIndex(where: { fits($0.route) }) else { return nil }
    let script = frameScripts[index]
    if let remaining = script.remaining {
      if remaining > 1 { frameScripts[index].remaining = remaining - 1 } else { frameScripts.remove(at: index) }
    }
    return script
  }

  mutating func clear() {
    scripts = []
    frameScripts = []
  }

  /// The scripts as JSON: first those for requests, then those for frames.
  var tree: JSON { .array(scripts.map(\.tree) + frameScripts.map(\.tree)) }
}
