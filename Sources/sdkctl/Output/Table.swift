/// A table whose columns are as wide as their content.
struct Table {
  /// The style of a cell, applied where colours are wanted.
  enum Style: String {
    case plain = ""
    case bold = "\u{1B}[1m"
    case good = "\u{1B}[32m"
    case doubtful = "\u{1B}[33m"
    case bad = "\u{1B}[31m"
  }

  /// A text and its style.
  struct Cell: ExpressibleByStringLiteral {
    var text: String
    var style: Style

    init(_ text: String, _ style: Style = .plain) {
      self.text = SafeText.escaped(text)
      self.style = style
    }

    init(stringLiteral value: String) { self.init(value) }
  }

  /// The names of the columns; none for a list of pairs.
  var header: [String]
  /// The rows, each with a cell for every column.
  var rows: [[Cell]]

  /// The smallest width to which the last column is wrapped.
  private static let narrowest = 12

  private func lines(hasHeader: Bool) -> [[Cell]] {
    (header.isEmpty || !hasHeader ? [] : [header.map { Cell($0, .bold) }]) + rows
  }

  /// Returns the width of each column, of which none is narrower than in `least`.
  func widths(atLeast least: [Int] = [], hasHeader: Bool = true) -> [Int] {
    let all = lines(hasHeader: hasHeader)
    let columns = all.map(\.count).max() ?? 0
    return (0..<columns).map { column in
      let widest = all.map { $0.count > column ? $0[column].text.count : 0 }.max() ?? 0
      return max(widest, column < least.count ? least[column] : 0)
    }
  }

  /// Returns the lines, each with its newline. With a width, the last column is wrapped to fit.
  ///
  /// - Parameter least: the least widths of the columns.
  func text(hasColour: Bool, width: Int? = nil, atLeast least: [Int] = [], hasHeader: Bool = true) -> String {
    let all = lines(hasHeader: hasHeader)
    let widths = widths(atLeast: least, hasHeader: hasHeader)
    let columns = widths.count
    let room = width.map { $0 - widths.dropLast().reduce(0) { $0 + $1 + 2 } }
    return all.flatMap { Self.wrapped($0, to: columns > 1 ? room : nil, column: columns - 1) }.map { cells in
      // Empty cells at the end of a line would leave spaces there.
      let row = cells.prefix((cells.lastIndex { !$0.text.isEmpty } ?? -1) + 1)
      return row.enumerated().map { column, cell in
        let isLast = column == row.count - 1
        let gap = isLast ? "" : String(repeating: " ", count: widths[column] - cell.text.count + 2)
        let isPlain = !hasColour || cell.style == .plain || cell.text.isEmpty
        return (isPlain ? cell.text : cell.style.rawValue + cell.text + "\u{1B}[0m") + gap
      }.joined() + "\n"
    }.joined()
  }

  /// Returns a row wrapped into several. All but the first hold nothing but the rest of the last cell.
  private static func wrapped(_ row: [Cell], to room: Int?, column: Int) -> [[Cell]] {
    guard let room, room >= narrowest, row.count == column + 1, let last = row.last, last.text.count > room else {
      return [row]
    }
    return Output.wrapped(last.text, to: room).enumerated().map { index, line in
      (index == 0 ? Array(row.dropLast()) : row.dropLast().map { _ in Cell("") }) + [Cell(line, last.style)]
    }
  }
}

/// The colours of states.
enum StateStyle {
  /// Returns the style of an instance's state.
  static func instance(_ state: String) -> Table.Style {
    switch state {
    case "authenticated", "anonymous": .good
    case "authenticating", "refreshing": .doubtful
    case "reauthNeeded", "locked", "quarantined": .bad
    default: .plain
    }
  }

  /// Returns the style of a health check's status.
  static func health(_ status: String) -> Table.Style {
    switch status {
    case "ok": .good
    case "degraded": .doubtful
    default: .bad
    }
  }
}
