/// Something that keeps the command from doing its work; the text is what standard error shows.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
