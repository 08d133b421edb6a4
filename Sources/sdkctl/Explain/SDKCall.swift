import SDKProtocol

/// A part of a phone SDK's API, with what takes its place here.
struct SDKCall: Hashable {
  /// The kind of the SDK.
  let kind: String
  /// The names, as the SDK spells them.
  let names: [String]
  /// The methods, and the questions to delegates, that do the same; none if nothing does.
  let methods: [String]
  /// The events that report the outcome.
  var events: [EventType] = []
  /// The difference that a developer of an app meets.
  let difference: String

  /// The words by which it is found: each name, and its last part without the arguments.
  var words: [String] {
    names.flatMap { name -> [String] in
      let bare = String(name.prefix { $0 != "(" })
      return [name, bare, bare.split(separator: ".").last.map(String.init) ?? bare]
    }
  }
}
