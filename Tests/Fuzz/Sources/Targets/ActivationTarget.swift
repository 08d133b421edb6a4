import Glibc
import Linux

@testable import Systemd
@testable import sdkd

extension FuzzTarget {
  /// The descriptors that a service manager passes. A line is one: a letter for what it is, and its name.
  static let activation = FuzzTarget("activation", maximumLength: 2048, costFactor: 60) { input in
    let passed = input.lines.prefix(32).map { (PassedDescriptor($0.utf8.first), String($0.dropFirst())) }
    let descriptors = passed.map { ($0.0.number, $0.1) }
    let result = ActivatedSockets.adopt(descriptors, where: Daemon.isControlSocket)
    let served = passed.filter { $0.0.isListening && Daemon.isControlSocket($0.1) }.map(\.0.number)
    require(result.sockets.map(\.fileDescriptor) == served, "\(served) are served, but \(result.sockets) were taken.")
    require(result.sockets.count + result.refused.count == passed.count, "A descriptor was neither taken nor refused.")
    for descriptor in served {
      require(fcntl(descriptor, F_GETFD) == FD_CLOEXEC, "A socket that is served is closed, or open to programs.")
      close(descriptor)
    }
    for refused in result.refused {
      require(fcntl(refused.fileDescriptor, F_GETFD) == -1, "A descriptor that is not served stays open.")
    }
  }
}

/// A descriptor of one of the kinds that a socket unit can have.
private struct PassedDescriptor {
  let number: Int32
  let isListening: Bool

  init(_ letter: UInt8?) {
    isListening = letter == UInt8(ascii: "l")
    switch letter {
    case UInt8(ascii: "l"), UInt8(ascii: "s"):
      number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      // The family alone: the kernel chooses a name that no file has.
      var address = sockaddr()
      address.sa_family = sa_family_t(AF_UNIX)
      if isListening, bind(number, &address, 2) != 0 || listen(number, 1) != 0 { fatalError("No socket can listen.") }
    case UInt8(ascii: "d"): number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    case UInt8(ascii: "t"): number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    case UInt8(ascii: "c"): number = 1 << 20
    default: number = open("/dev/null", O_RDONLY)
    }
  }
}
