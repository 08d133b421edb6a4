extension Unicode.GeneralCategory {
  /// Control characters and what a terminal or a log reader could take for a line break.
  var isControlOrLineBreak: Bool {
    switch self {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension Unicode.Scalar {
  /// Whether the scalar could end a line, move a cursor or change the order of what is shown: control
  /// characters, line separators and invisible format characters such as bidirectional overrides.
  var isUnsafeInLine: Bool {
    // Printable ASCII is nearly everything that is logged: spare it the table of properties.
    if value < 0x7F { return value < 0x20 }
    let category = properties.generalCategory
    return category.isControlOrLineBreak || category == .format
  }
}
