/// An error for a connection whose peer the kernel can't identify.
struct UnknownPeerError: Error {}
