import Foundation
import JSONRPC

@testable import SandboxServer

/// PyJWT, a library of others that signs and verifies tokens (Debian's python3-jwt).
enum PyJWT {
  private static let script = """
    import json, jwt, sys
    for line in sys.stdin:
        task = json.loads(line)
        if "claims" in task:
            headers = {"kid": task["kid"]} if task.get("kid") else None
            print(jwt.encode(task["claims"], task["secret"], algorithm=task["algorithm"], headers=headers))
        else:
            options = {"verify_exp": False, "verify_iat": False}
            print(json.dumps(jwt.decode(task["token"], task["secret"], algorithms=["HS256"], options=options)))
    """

  /// Returns a signed token for each task, in order.
  static func sign(_ tasks: [Task]) throws -> [String] {
    try run(
      tasks.map { task in
        [
          "claims": task.claims, "kid": task.kid.map(JSON.string) ?? .null, "secret": .string(task.secret),
          "algorithm": .string(task.algorithm),
        ]
      })
  }

  /// Returns the claims of a token; throws if its signature is wrong.
  static func verify(_ token: String, secret: String) throws -> JSON {
    try JSONParser.parse(Data(try run([["token": .string(token), "secret": .string(secret)]])[0].utf8), .ownText)
  }

  struct Task {
    var claims: JSON = ["scope": "user", "external_id": "alice"]
    var kid: String? = "app_demo"
    var secret = DemoAccounts.secret
    var algorithm = "HS256"
  }

  private static func run(_ tasks: [JSONObject]) throws -> [String] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = ["-c", script]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let lines = tasks.map { JSONWriter.bytes(of: .object($0)) + [0x0A] }.joined()
    try input.fileHandleForWriting.write(contentsOf: Data(lines))
    try input.fileHandleForWriting.close()
    let answers = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let texts = String(decoding: answers, as: UTF8.self).split(separator: "\n").map(String.init)
    guard texts.count == tasks.count else { throw Failed(answers: texts) }
    return texts
  }

  struct Failed: Error { let answers: [String] }
}
