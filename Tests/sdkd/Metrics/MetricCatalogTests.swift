import Foundation
import OpenMetrics
import Testing

@testable import sdkd

/// The declared metric families: the format's rules for names, and the table in the documentation.
@Suite struct MetricCatalogTests {
  @Test func namesAreSound() {
    #expect(Set(MetricFamily.all.map(\.name)).count == MetricFamily.all.count)
    for family in MetricFamily.all {
      #expect(family.name.wholeMatch(of: /(sdkd|process)_[a-z_]+/) != nil, "\(family.name)")
      if let unit = family.unit { #expect(family.name.hasSuffix("_\(unit)"), "\(family.name)") }
      #expect(family.help.hasSuffix("."), "\(family.name)")
      #expect(!family.name.hasSuffix("_total") && !family.name.hasSuffix("_info"), "\(family.name)")
      #expect((family.kind == .histogram) != family.bounds.isEmpty, "\(family.name)")
      #expect(family.bounds == family.bounds.sorted() && family.bounds.count <= HistogramCell.maximumBounds)
      for label in family.labels { #expect(!["le", "instance", "uid", "pid"].contains(label), "\(family.name)") }
    }
  }

  @Test func theDocumentationHasThemAll() throws {
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Packaging/documentation/metrics.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    #expect(text.contains("\n\n" + MetricsTable.markdown + "\n"), "put in the table that sdkd --metrics-table prints")
  }

  @Test(arguments: [
    ("127.0.0.1:9464", "127.0.0.1:9464"), ("127.8.8.8:1", "127.8.8.8:1"), ("[::1]:9464", "[::1]:9464"),
    ("localhost:80", "127.0.0.1:80"), ("/run/sdkd/metrics.sock", "/run/sdkd/metrics.sock"),
  ])
  func addressesOfThisMachineAreTaken(text: String, shown: String) throws {
    #expect(try ListenAddress(text).description == shown)
  }

  @Test(arguments: [
    "0.0.0.0:1", "10.0.0.1:9464", "[::]:1", "[::2]:9464", "example.org:80", "127.0.0.1.example.org:80", "127.0.0:1",
    "[fe80::1]:9", "127.0.0.300:1",
  ])
  func othersAreNot(text: String) {
    #expect(throws: ListenAddress.Mistake.notLoopback) { try ListenAddress(text) }
  }

  @Test(arguments: ["", "9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:٣", "/", ":1"])
  func whatIsNoAddressIsNone(text: String) {
    #expect(throws: ListenAddress.Mistake.malformed) { try ListenAddress(text) }
  }
}
