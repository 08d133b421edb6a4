extension String: JSONTextRepresentable {
  public func write(to writer: inout JSONWriter) { writer.write(string: self) }
}

extension Bool: JSONTextRepresentable {
  public func write(to writer: inout JSONWriter) { writer.write(raw: self ? "true" : "false") }
}

extension Int: JSONTextRepresentable {
  public func write(to writer: inout JSONWriter) { writer.write(raw: String(self).utf8) }
}

extension JSON: JSONTextRepresentable {
  public func write(to writer: inout JSONWriter) { writer.write(self) }
}

extension JSONObject: JSONTextRepresentable {
  public func write(to writer: inout JSONWriter) { writer.write(self) }
}

extension Array: JSONTextRepresentable where Element: JSONTextRepresentable {
  @inlinable
  public func write(to writer: inout JSONWriter) {
    writer.write(byte: UInt8(ascii: "["))
    for index in indices {
      if index > 0 { writer.write(byte: UInt8(ascii: ",")) }
      self[index].write(to: &writer)
    }
    writer.write(byte: UInt8(ascii: "]"))
  }
}

extension Dictionary: JSONTextRepresentable where Key == String, Value: JSONTextRepresentable {
  @inlinable
  public func write(to writer: inout JSONWriter) {
    writer.write(byte: UInt8(ascii: "{"))
    for (key, value) in self {
      writer.write(label: JSONWriter.label(key))
      value.write(to: &writer)
    }
    writer.write(byte: UInt8(ascii: "}"))
  }
}

/// The text of an enumeration of strings.
extension JSONTextRepresentable where Self: RawRepresentable, RawValue == String {
  @inlinable
  public func write(to writer: inout JSONWriter) { writer.write(string: rawValue) }
}
