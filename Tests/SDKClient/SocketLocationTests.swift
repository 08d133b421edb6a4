import Testing

@testable import SDKClient

struct SocketLocationTests {
  private func path(
    _ location: SocketLocation, _ variables: [String: String] = [:], existing: Set<String> = []
  ) throws -> String {
    try location.path(
      in: .init(uid: 1000, variable: { variables[$0] }, exists: { existing.contains($0) }))
  }

  @Test func theVariableComesFirst() throws {
    let variables = ["SDKD_SOCKET": "/x/s", "XDG_RUNTIME_DIR": "/run/user/1000"]
    #expect(try path(.automatic, variables, existing: ["/run/user/1000/sdkd/sdkd.sock"]) == "/x/s")
  }

  @Test func thenTheUsersIfItIsThere() throws {
    let variables = ["SDKD_SOCKET": "", "XDG_RUNTIME_DIR": "/r"]
    #expect(try path(.automatic, variables, existing: ["/r/sdkd/sdkd.sock"]) == "/r/sdkd/sdkd.sock")
    #expect(try path(.automatic, variables) == "/run/sdkd/sdkd.sock")
    #expect(try path(.automatic) == "/run/sdkd/sdkd.sock")
  }

  @Test func whatIsSaidOutLoudIsTaken() throws {
    let variables = ["SDKD_SOCKET": "/x/s", "XDG_RUNTIME_DIR": "/r"]
    #expect(try path(.path("/y"), variables) == "/y")
    #expect(try path(.system, variables) == "/run/sdkd/sdkd.sock")
    #expect(try path(.user, variables) == "/r/sdkd/sdkd.sock")
    #expect(try path(.user) == "/run/user/1000/sdkd/sdkd.sock")
    #expect(try path(.tenant("shop"), variables) == "/run/sdkd-tenants/shop.sock")
    let longest = "Shop-2_of-the-harbour-west"
    #expect(try path(.tenant(longest)) == "/run/sdkd-tenants/\(longest).sock")
  }

  @Test(arguments: ["", ".", "..", "../sdkd/sdkd", "a/b", "a\0b", "a b", "ä", "a.b", String(repeating: "a", count: 27)])
  func aTenantIsOneName(_ name: String) {
    #expect(throws: SDKClientError.self) { try path(.tenant(name)) }
  }

  @Test func anEmptyPathIsNone() {
    #expect(throws: SDKClientError.self) { try path(.path("")) }
  }
}
