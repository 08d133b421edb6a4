import Testing

@testable import SandboxServer

struct RoutePatternTests {
  @Test(arguments: [
    ("POST /v2/apps/*/login", true), ("/v2/apps/*/login", true), ("/zm/v2/apps/*/login", true),
    ("post /zm/v2/apps/a/login", true), ("/v2/**", true), ("/zm/**", true), ("/**", true), ("POST /**", true),
    ("/v2/apps/*/login/", true), ("/*/apps/*/login", true),
    ("GET /v2/apps/*/login", false), ("/v2/apps/*", false), ("/v2/apps/*/logi", false), ("/apps/*/login", false),
    ("/zs/**", false), ("/v2/apps/b/login", false), ("/v2/apps/*/login/*", false),
  ])
  func `A pattern matches with and without prefix and method`(pattern: String, matches: Bool) throws {
    let route = try RoutePattern(pattern)
    #expect(route.matches(method: "POST", path: ["zm", "v2", "apps", "a", "login"]) == matches)
  }

  @Test(arguments: ["", "v2/apps", "POST", "POST  x", "A B /c", "/a/**/b", "/_control", "/ns/t1/zm"])
  func `What is no route is refused by name`(pattern: String) {
    #expect { try RoutePattern(pattern) } throws: { ($0 as? ControlMistake)?.member == "route" }
  }
}
