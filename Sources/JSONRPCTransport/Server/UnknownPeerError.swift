/// A connection whose peer the kernel does not know.
struct UnknownPeerError: Error {}
