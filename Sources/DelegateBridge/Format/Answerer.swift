/// Who gave an answer, as sentences begin.
enum Answerer: String, Sendable {
  case provider = "The token provider"
  case delegate = "The delegate"
}
