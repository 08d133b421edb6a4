import JSONRPC

/// The members of a control request's JSON object. Every error names the faulty member.
struct ControlMembers {
  let members: [String: JSON]

  /// Reads the members of an object. Throws if `tree` is no object or has members other than `known`.
  init(_ tree: JSON?, known: [String]) throws(ControlMistake) {
    guard let members = tree?.members else {
      throw ControlMistake(nil, "the body must be a JSON object with the members \(known.joined(separator: ", "))")
    }
    if let unknown = members.keys.sorted().first(where: { !known.contains($0) }) {
      throw ControlMistake(unknown, "unknown member; known are \(known.joined(separator: ", "))")
    }
    self.members = members
  }

  /// Whether the member is present, even if it is null.
  func has(_ name: String) -> Bool { members[name] != nil }

  /// Returns the member; `nil` if it is absent or null.
  func value(_ name: String) -> JSON? {
    members[name].flatMap(\.unlessNull)
  }

  /// Returns a non-empty string; `nil` if the member is absent or null. Throws if it is anything else.
  func text(_ name: String) throws(ControlMistake) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.stringValue, !text.isEmpty else {
      throw ControlMistake(name, "must be a string and not empty")
    }
    return text
  }

  /// Returns a non-empty string. Throws if the member is absent or null.
  func requiredText(_ name: String) throws(ControlMistake) -> String {
    guard let text = try text(name) else { throw ControlMistake(name, "is missing") }
    return text
  }

  /// Returns a Boolean; false if the member is absent or null. Throws if it is anything else.
  func flag(_ name: String) throws(ControlMistake) -> Bool {
    guard let value = value(name) else { return false }
    guard case .bool(let flag) = value else { throw ControlMistake(name, "must be true or false") }
    return flag
  }

  /// Returns a Boolean; `nil` if the member is absent or null. Throws if it is anything else.
  func optionalFlag(_ name: String) throws(ControlMistake) -> Bool? {
    value(name) == nil ? nil : try flag(name)
  }

  /// Returns the case of `Choice` with this raw value; `nil` if the member is absent or null. Throws if there is no
  /// such case.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, as type: Choice.Type
  ) throws(ControlMistake) -> Choice? where Choice.RawValue == String {
    guard let text = try text(name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw ControlMistake(name, "must be one of \(Choice.allCases.map { $0.rawValue }.joined(separator: ", "))")
    }
    return choice
  }

  /// Returns the strings of an array; `nil` if the member is absent or null. Throws if it is anything else.
  func texts(_ name: String) throws(ControlMistake) -> [String]? {
    guard let value = value(name) else { return nil }
    guard case .array(let elements) = value else { throw ControlMistake(name, "must be an array of strings") }
    let texts = elements.compactMap { $0.stringValue }
    guard texts.count == elements.count else { throw ControlMistake(name, "must be an array of strings") }
    return texts
  }

  /// Returns a number; `nil` if the member is absent or null. Throws if it is no number within `range`.
  func number(_ name: String, in range: ClosedRange<Double>) throws(ControlMistake) -> Double? {
    guard let value = value(name) else { return nil }
    guard let number = value.doubleValue, range.contains(number) else {
      throw ControlMistake(name, "must be a number from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
    }
    return number
  }

  /// Returns a whole number; `nil` if the member is absent or null. Throws if it is no whole number within `range`.
  func integer(_ name: String, in range: ClosedRange<Int>) throws(ControlMistake) -> Int? {
    guard let value = value(name) else { return nil }
    guard let integer = value.doubleValue.flatMap({ Int(exactly: $0) }), range.contains(integer) else {
      throw ControlMistake(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return integer
  }
}
