/// The author of an answer, as the first words of a sentence in messages.
enum Answerer: String, Sendable {
  case provider = "The token provider"
  case delegate = "The delegate"
}
