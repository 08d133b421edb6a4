/// The pipes to a provider's three standard streams.
struct ProviderPipes: Sendable {
  /// The daemon's ends.
  let input: OwnedDescriptor
  let output: OwnedDescriptor
  let error: OwnedDescriptor

  /// Creates the pipes and the provider's ends: standard input, output and error; `nil` with too many open files.
  static func make() -> (pipes: ProviderPipes, ends: [OwnedDescriptor])? {
    guard let input = OwnedDescriptor.pipe(), let output = OwnedDescriptor.pipe(), let error = OwnedDescriptor.pipe()
    else { return nil }
    let pipes = ProviderPipes(input: input.write, output: output.read, error: error.read)
    return (pipes, [input.read, output.write, error.write])
  }

  private init(input: OwnedDescriptor, output: OwnedDescriptor, error: OwnedDescriptor) {
    self.input = input
    self.output = output
    self.error = error
  }
}
