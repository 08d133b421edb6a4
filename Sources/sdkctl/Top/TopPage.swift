import ArgumentParser
import JSONRPC
import SDKProtocol

/// The text of `sdkctl top`: a summary, a row for each instance, and a row for each method.
struct TopPage {
  /// The order of the instances.
  enum Sort: String, ExpressibleByArgument, CaseIterable {
    /// Instances that need an action by a person come first.
    case attention
    case name, state, user
    /// Instances whose token expires first come first.
    case expiry

    /// The order that follows this one when the user changes it.
    var next: Sort { Self.allCases[((Self.allCases.firstIndex(of: self) ?? 0) + 1) % Self.allCases.count] }
  }

  /// The tables that are shown.
  enum View: String, CaseIterable {
    case all, instances, methods

    /// The view that follows this one when the user changes it.
    var next: View { Self.allCases[((Self.allCases.firstIndex(of: self) ?? 0) + 1) % Self.allCases.count] }
  }

  let frame: TopFrame
  let instances: [JSON]
  /// Whether there are more instances than were read.
  var isPartial = false
  var sort = Sort.attention
  var view = View.all

  /// Returns the text.
  ///
  /// - Parameter rows: the rows of the screen; `nil` for all of the text and no footer.
  func text(at time: Timestamp, hasColour: Bool, rows: Int? = nil) -> String {
    let summary = lines(of: frame.summary(at: time).text(hasColour: hasColour))
    var tables: [[String]] = []
    if view != .methods, !instances.isEmpty {
      tables.append(lines(of: ListVerb.table(sorted(at: time), now: time).text(hasColour: hasColour)))
      if isPartial { tables[0].append("… more instances: sdkctl list") }
    }
    if view != .instances { tables.append(lines(of: frame.methodTable.text(hasColour: hasColour))) }
    guard let rows else {
      return ([summary] + tables).map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }
    let footer = "q quit · s sort: \(sort.rawValue) · v view: \(view.rawValue)"
    // An empty line stands before each table.
    var room = max(0, rows - summary.count - 1 - tables.count)
    var parts = [summary]
    for (index, table) in tables.enumerated() {
      // The first of two tables leaves what the second needs, but at most half of the room.
      let reserved = index + 1 < tables.count ? min(tables[index + 1].count, room / 2) : 0
      let shown = Self.cut(table, to: room - reserved)
      room -= shown.count
      parts.append(shown)
    }
    let body = parts.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    let missing = max(0, rows - 1 - lines(of: body).count)
    return body + String(repeating: "\n", count: missing + 1) + footer
  }

  /// Returns the first lines; the last of them says how many are missing.
  static func cut(_ lines: [String], to count: Int) -> [String] {
    guard lines.count > count else { return lines }
    guard count > 0 else { return [] }
    return lines.prefix(count - 1) + ["… \(lines.count - count + 1) more"]
  }

  private func lines(of text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  /// Returns the instances in the chosen order. Instances that are equal in it are ordered by their id.
  func sorted(at time: Timestamp) -> [JSON] {
    func id(_ instance: JSON) -> String { instance["instance"]?.stringValue ?? "" }
    func end(_ instance: JSON) -> Double {
      instance["expiresAt"]?.stringValue.flatMap { Timestamp($0) }?.secondsSince1970 ?? .infinity
    }
    func state(_ instance: JSON) -> String { instance["state"]?.stringValue ?? "" }
    func user(_ instance: JSON) -> String {
      ["externalId", "email", "name", "id"].lazy.compactMap { instance["user"]?[$0]?.stringValue }.first ?? "\u{10FFFF}"
    }
    switch sort {
    case .attention:
      let ranked = instances.map { (Self.rank(of: $0), end($0), id($0), $0) }
      return ranked.sorted { ($0.0, $0.1, $0.2) < ($1.0, $1.1, $1.2) }.map(\.3)
    case .name: return instances.sorted { id($0) < id($1) }
    case .state: return instances.sorted { (state($0), id($0)) < (state($1), id($1)) }
    case .user: return instances.sorted { (user($0), id($0)) < (user($1), id($1)) }
    case .expiry: return instances.sorted { (end($0), id($0)) < (end($1), id($1)) }
    }
  }

  private static func rank(of instance: JSON) -> Int {
    switch instance["state"]?.stringValue {
    case "quarantined": 0
    case "locked": 1
    case "reauthNeeded": 2
    case _ where LastError(of: instance) != nil: 3
    case "authenticating", "refreshing": 4
    default: 5
    }
  }
}
