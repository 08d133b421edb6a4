/// A Bayeux message that is refused.
struct BayeuxRefusal: Error {
  /// `code:arguments:text`.
  let text: String
  /// What only the log shows.
  let note: String
  let advice: JSONTree?

  init(_ text: String, note: String? = nil, advice: JSONTree? = nil) {
    self.text = text
    self.note = note ?? text
    self.advice = advice
  }
}
