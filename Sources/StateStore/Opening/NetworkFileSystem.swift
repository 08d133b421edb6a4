/// Network file systems, whose locks and shared memory maps may be unreliable.
enum NetworkFileSystem {
  private static let names: [UInt: String] = [
    0x6969: "NFS",
    0x517B: "SMB",
    0xFF53_4D42: "CIFS",
    0xFE53_4D42: "SMB",
    0x5346_414F: "AFS",
    0x6B41_4653: "AFS",
    0x0102_1997: "9p",
    0x7375_7245: "Coda",
    0x564C: "NCP",
    0x00C3_6400: "Ceph",
    0x0BD0_0BD0: "Lustre",
    0x4750_4653: "GPFS",
    0x1983_0326: "BeeGFS",
  ]

  /// Returns the name of a network file system with this `statfs` type; `nil` for any other type.
  static func name(ofType type: UInt) -> String? { names[type] }
}
