/// The members of a control request's JSON object, read one by one; every mistake names the member.
struct ControlMembers {
  let members: [String: JSONTree]

  /// Takes an object that has no other members than `known`.
  init(_ tree: JSONTree?, known: [String]) throws(ControlMistake) {
    guard let members = tree?.members else {
      throw ControlMistake(nil, "the body must be a JSON object with the members \(known.joined(separator: ", "))")
    }
    if let unknown = members.keys.sorted().first(where: { !known.contains($0) }) {
      throw ControlMistake(unknown, "unknown member; known are \(known.joined(separator: ", "))")
    }
    self.members = members
  }

  /// True when the member is there, be it null.
  func has(_ name: String) -> Bool { members[name] != nil }

  /// The member, unless it is absent or null.
  func value(_ name: String) -> JSONTree? {
    members[name].flatMap { $0 == .null ? nil : $0 }
  }

  /// A string that is not empty, `nil` when absent or null.
  func text(_ name: String) throws(ControlMistake) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.text, !text.isEmpty else { throw ControlMistake(name, "must be a string and not empty") }
    return text
  }

  /// A string that is not empty and must be there.
  func requiredText(_ name: String) throws(ControlMistake) -> String {
    guard let text = try text(name) else { throw ControlMistake(name, "is missing") }
    return text
  }

  /// True or false; absent is false.
  func flag(_ name: String) throws(ControlMistake) -> Bool {
    guard let value = value(name) else { return false }
    guard case .bool(let flag) = value else { throw ControlMistake(name, "must be true or false") }
    return flag
  }

  /// True or false, `nil` when absent or null.
  func optionalFlag(_ name: String) throws(ControlMistake) -> Bool? {
    value(name) == nil ? nil : try flag(name)
  }

  /// One of the cases of `Choice` by its name, `nil` when absent or null.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, as type: Choice.Type
  ) throws(ControlMistake) -> Choice? where Choice.RawValue == String {
    guard let text = try text(name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw ControlMistake(name, "must be one of \(Choice.allCases.map { $0.rawValue }.joined(separator: ", "))")
    }
    return choice
  }

  /// The texts of an array, `nil` when absent or null.
  func texts(_ name: String) throws(ControlMistake) -> [String]? {
    guard let value = value(name) else { return nil }
    guard case .array(let elements) = value else { throw ControlMistake(name, "must be an array of strings") }
    let texts = elements.compactMap { $0.text }
    guard texts.count == elements.count else { throw ControlMistake(name, "must be an array of strings") }
    return texts
  }

  /// A number within `range`, `nil` when absent or null.
  func number(_ name: String, in range: ClosedRange<Double>) throws(ControlMistake) -> Double? {
    guard let value = value(name) else { return nil }
    guard let number = value.double, range.contains(number) else {
      throw ControlMistake(name, "must be a number from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
    }
    return number
  }

  /// A whole number within `range`, `nil` when absent or null.
  func integer(_ name: String, in range: ClosedRange<Int>) throws(ControlMistake) -> Int? {
    guard let value = value(name) else { return nil }
    guard let integer = value.double.flatMap({ Int(exactly: $0) }), range.contains(integer) else {
      throw ControlMistake(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return integer
  }
}
