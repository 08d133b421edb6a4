import Foundation
import JSONRPC
import Testing

@testable import sdkd

/// The texts of toml-test, the language's own suite, as Debian has it in golang-github-burntsushi-toml-dev.
struct TOMLSuiteTests {
  private static let folder =
    "/usr/share/gocode/src/github.com/BurntSushi/toml/internal/toml-test/tests/"

  /// The texts that only TOML 1.1 allows.
  private static let later: Set<String> = ["string/escape-esc.toml"]

  private static func texts(_ kind: String) -> [String] {
    let names = FileManager.default.enumerator(atPath: folder + kind)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(".toml") && !later.contains($0) }.sorted()
  }

  private static func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: folder + name)))
  }

  @Test func `The suite is installed`() {
    #expect(Self.texts("valid").count > 90 && Self.texts("invalid").count > 200, "\(Self.folder) is missing")
  }

  @Test(arguments: texts("valid"))
  func `A valid text has the right values, or one without a meaning here`(name: String) throws {
    let tagged = try JSONParser.parse(try Self.bytes("valid/" + name.dropLast(5) + ".json"))
    let bytes = try Self.bytes("valid/" + name)
    if let expected = Self.value(tagged) {
      #expect(JSON.object(try TOMLDocument(bytes: bytes).root).isSame(as: expected))
    } else {
      let problem = #expect(throws: TOMLSyntaxProblem.self) { try TOMLDocument(bytes: bytes) }
      let message = problem?.message ?? ""
      #expect(message.contains("no meaning here") || message.contains("NUL"), "\(message)")
    }
  }

  @Test(arguments: texts("invalid"))
  func `An invalid text is refused`(name: String) throws {
    let bytes = try Self.bytes("invalid/" + name)
    #expect(throws: TOMLSyntaxProblem.self) { try TOMLDocument(bytes: bytes) }
  }

  /// Returns the value of a tagged one; `nil` if a part of it has no meaning in a configuration.
  private static func value(_ tagged: JSON) -> JSON? {
    if let elements = tagged.arrayValue {
      let values = elements.compactMap(value)
      return values.count == elements.count ? .array(values) : nil
    }
    guard let object = tagged.objectValue else { return nil }
    if object.members.count == 2, let type = object["type"]?.stringValue, let text = object["value"]?.stringValue {
      switch type {
      case "string": return text.utf8.contains(0) ? nil : .string(text)
      case "integer": return Int(text).map { JSON($0) }
      case "float":
        guard let number = Double(text), number.isFinite else { return nil }
        return JSON(number)
      case "bool": return .bool(text == "true")
      default: return nil
      }
    }
    let members = object.members.compactMap { member in value(member.value).map { (member.key, $0) } }
    return members.count == object.members.count ? .object(JSONObject(members)) : nil
  }
}

extension JSON {
  /// Whether two values are the same, in whatever order their members are.
  fileprivate func isSame(as other: JSON) -> Bool {
    if let object = objectValue, let another = other.objectValue {
      return object.members.count == another.members.count
        && object.members.allSatisfy { member in another[member.key].map { member.value.isSame(as: $0) } ?? false }
    }
    if let list = arrayValue, let another = other.arrayValue {
      return list.count == another.count && zip(list, another).allSatisfy { $0.isSame(as: $1) }
    }
    if let number = doubleValue, let another = other.doubleValue { return number == another }
    return self == other
  }
}
