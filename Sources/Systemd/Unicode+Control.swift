extension Unicode.GeneralCategory {
  /// Whether the category has control characters, or characters that a terminal or log reader could take for a line
  /// break.
  var isControlOrLineBreak: Bool {
    switch self {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension Unicode.Scalar {
  /// Whether the scalar could end a line, move a cursor or change the order of displayed text.
  ///
  /// Such scalars are control characters, line separators and invisible format characters such as bidirectional
  /// overrides.
  var isUnsafeInLine: Bool {
    // Nearly all logged text is printable ASCII: skip the lookup of properties for it.
    if value < 0x7F { return value < 0x20 }
    let category = properties.generalCategory
    return category.isControlOrLineBreak || category == .format
  }
}
