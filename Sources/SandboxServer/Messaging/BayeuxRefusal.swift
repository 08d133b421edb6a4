/// An error response to a Bayeux message.
struct BayeuxRefusal: Error {
  /// The error in Bayeux's form `code:arguments:text`.
  let text: String
  /// The reason, which only the log shows.
  let note: String
  let advice: JSONTree?

  init(_ text: String, note: String? = nil, advice: JSONTree? = nil) {
    self.text = text
    self.note = note ?? text
    self.advice = advice
  }
}
