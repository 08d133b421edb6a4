/// The scripts that wait, in the order in which they were posted.
struct ScriptQueue: Sendable {
  private(set) var scripts: [ResponseScript] = []

  /// Queues the script, or the scripts of an array: all of them or none.
  mutating func add(_ tree: JSONTree?) throws(ControlMistake) {
    guard let tree else { throw ControlMistake(nil, "the body must be JSON: a script or an array of scripts") }
    let trees: [JSONTree] = if case .array(let trees) = tree { trees } else { [tree] }
    var added: [ResponseScript] = []
    for tree in trees { added.append(try ResponseScript(tree)) }
    guard scripts.count + added.count <= SandboxLimits.scripts else {
      throw ControlMistake(nil, "at most \(SandboxLimits.scripts) scripts wait at a time")
    }
    scripts += added
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

  mutating func clear() { scripts = [] }

  var tree: JSONTree { .array(scripts.map(\.tree)) }
}
