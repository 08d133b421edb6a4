/// The scripts that wait, in the order in which they were posted.
struct ScriptQueue: Sendable {
  private(set) var scripts: [ResponseScript] = []
  private(set) var frameScripts: [FrameScript] = []

  /// Queues the script, or the scripts of an array: all of them or none.
  mutating func add(_ tree: JSONTree?) throws(ControlMistake) {
    guard let tree else { throw ControlMistake(nil, "the body must be JSON: a script or an array of scripts") }
    let trees: [JSONTree] = if case .array(let trees) = tree { trees } else { [tree] }
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

  /// The script for this request, one use of which is hereby spent: the first posted that matches.
  mutating func take(method: String, path: [String]) -> ResponseScript? {
    guard let index = scripts.firstIndex(where: { $0.route.matches(method: method, path: path) }) else { return nil }
    let script = scripts[index]
    if let remaining = script.remaining {
      if remaining > 1 { scripts[index].remaining = remaining - 1 } else { scripts.remove(at: index) }
    }
    return script
  }

  /// The script for a frame that is about `events`; `path` has the SDK's prefix as its first segment.
  mutating func take(path: [String], events: [String]) -> FrameScript? {
    takeFrame { $0.matches(path: path, events: events) }
  }

  /// The script for a ping: one that says so, not one for just any frame.
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

  /// Those for requests first, then those for frames.
  var tree: JSONTree { .array(scripts.map(\.tree) + frameScripts.map(\.tree)) }
}
