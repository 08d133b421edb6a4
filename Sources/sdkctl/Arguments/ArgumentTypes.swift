public import ArgumentParser
public import SDKProtocol

// The contract's own types as arguments, so that an invalid value is rejected before the daemon is called.

extension InstanceID: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
  public static var defaultCompletionKind: CompletionKind { CompletionSource.instances }
}

extension Seconds: ExpressibleByArgument {
  public init?(argument: String) { self.init(text: argument) }
}

extension AccessRule: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

extension KindName: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
  public static var defaultCompletionKind: CompletionKind { CompletionSource.kinds }
}

extension InstanceState: ExpressibleByArgument {}

extension EventType: ExpressibleByArgument {}

extension PushEndpoint.ServiceType: ExpressibleByArgument {}
