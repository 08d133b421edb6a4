import JSONRPC
import SDKProtocol
import Testing

@testable import SDKInstances
@testable import SDKKinds

/// Devices that are registered at the vendor, and their removal with the identity (`rows.md`, S11).
@Suite struct SupportPushTests {
  private let vendor = SupportVendor()

  private func push(_ vendorId: String?, type: String = "fcm") -> PushRecord {
    PushRecord(
      id: "p1", service: nil, address: Secret("device/1"), type: type, locale: "de-DE", vendorId: vendorId, user: .none,
      subject: nil, createdAt: SupportAdapter.now)
  }

  @Test("A device is registered with what the vendor wants to know", arguments: [true, false])
  func registering(isNested: Bool) async throws {
    let adapter = try SupportAdapter.at(vendor)
    vendor.answer(201, isNested ? ["push_notification_device": ["id": 41]] : ["id": "41"])
    let record = adapter.set(.unique(Secret("alice-unique-id-00")))
    #expect(try await adapter.register(push(nil), of: record, on: nil) == "41")
    #expect(vendor.calls == ["POST /api/mobile/push_notification_devices.json"])
    #expect(
      vendor.body?["push_notification_device"] == [
        "identifier": "device/1", "device_type": "android", "token_type": "fcm", "locale": "de-DE",
        "sdk_guid": "0f0e0d0c-guid",
      ])
    #expect(vendor.requests.last?.headers.first { $0.name == "Authorization" }?.value == "Bearer t0")
  }

  @Test("A farewell removes each device at the backend that had it")
  func farewell() async throws {
    let adapter = try SupportAdapter.at(vendor)
    let record = adapter.set(.unique(Secret("alice-unique-id-00")))
    let deliveries = adapter.farewell(
      to: record, pushes: [push("41"), push(nil)], isInformed: false, now: SupportAdapter.now)
    #expect(deliveries.count == 2)
    #expect(!deliveries.contains { $0.details.values.contains(Secret("alice-unique-id-00")) })
    let other = try SupportAdapter.at(vendor, ["base_url": "https://other.zendesk.com", "client_id": "other"])
    for var delivery in deliveries {
      vendor.answer(200, [:])
      try await other.deliver(&delivery)
    }
    #expect(
      vendor.calls == [
        "DELETE /api/mobile/push_notification_devices/41.json",
        "DELETE /api/mobile/push_notification_devices/device%2F1.json",
      ])
    #expect(vendor.requests.last?.headers.first { $0.name == "Client-Identifier" }?.value == "client")
    #expect(vendor.requests.last?.headers.first { $0.name == "Authorization" }?.value == "Bearer t0")
  }

  @Test("A device that is not there is removed; an outage is tried again; a refusal is given up")
  func removing() async throws {
    let adapter = try SupportAdapter.at(vendor)
    let record = adapter.set(.unique(Secret("alice-unique-id-00")))
    for (status, expected) in [(404, "none"), (204, "none"), (503, "serverError"), (401, "invalidAuth")] {
      vendor.answer(status, .null)
      #expect(await reason { try await adapter.unregister(push("41"), of: record, on: nil) } == expected)
    }
  }
}
