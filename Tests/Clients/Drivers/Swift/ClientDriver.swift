import Concurrency
import Glibc
import JSONRPC
import JSONRPCTransport
import SDKClient

/// Drives `SDKClient`: commands as lines on standard input, outcomes as lines on standard output. For `Tests/Clients`.
@main
struct ClientDriver {
  static func main() {
    let driver = Driver()
    var tasks: [Int: Task<Void, Never>] = [:]
    say(["can": ["cancel"]])
    while let line = readLine() {
      guard let command = try? JSONParser.parse(line) else { continue }
      if command["do"] == "cancel" {
        command["target"]?.intValue.flatMap { tasks[$0] }?.cancel()
      } else if let id = command["id"]?.intValue {
        tasks[id] = Task.detached { await driver.take(id, command) }
      }
    }
  }
}

/// Writes one line. Not through `stdout`, which would have to be flushed under a lock that `readLine` may hold.
func say(_ value: JSON) {
  var bytes = JSONWriter.bytes(of: value) + [UInt8(ascii: "\n")]
  while !bytes.isEmpty {
    let count = write(STDOUT_FILENO, bytes, bytes.count)
    guard count > 0 else { return }
    bytes.removeFirst(count)
  }
}

/// The clients, subscriptions and attachments of the test.
actor Driver {
  private var clients: [String: SDKClient] = [:]
  private var streams: [String: EventReader] = [:]
  private var attachments: [String: (DelegateAttachment, StatusReader)] = [:]

  func take(_ id: Int, _ command: JSON) async {
    do {
      say(["id": JSON(id), "result": try await run(command)])
    } catch is CancellationError {
      say(["id": JSON(id), "error": ["reason": "cancelled by the caller"]])
    } catch let error as SDKClientError {
      say(["id": JSON(id), "error": error.json])
    } catch {
      say(["id": JSON(id), "error": ["reason": .string("\(error)")]])
    }
  }

  private func run(_ command: JSON) async throws -> JSON {
    let name = command["client"]?.stringValue ?? "main"
    let stream = command["stream"]?.stringValue ?? ""
    let instances = command["instances"]?.arrayValue?.compactMap { $0.stringValue.flatMap(InstanceID.init) }
    switch command["do"]?.stringValue {
    case "connect":
      clients[name] = try await connect(command["socket"]?.stringValue ?? "", command["options"] ?? [:])
      return nil
    case "call":
      return try await client(name).call(
        command["method"]?.stringValue ?? "", command["params"] ?? [:],
        timeout: command["deadline"]?.doubleValue.map { .seconds($0) })
    case "token":
      let instance = try InstanceID(command["instance"]?.stringValue ?? "").required
      let token = try await client(name).call(
        TokenGet.self, .init(instance: instance, minTTL: Seconds(30), http: true))
      return try JSONValueEncoder.encode(token)
    case "put":
      let instance = try InstanceID(command["instance"]?.stringValue ?? "").required
      _ = try await client(name).call(
        StoragePut.self,
        .init(instance: instance, key: command["key"]?.stringValue ?? "", value: command["value"] ?? nil))
      return nil
    case "events":
      let events = try client(name).events(
        EventFilter(instances: instances), since: command["since"]?.stringValue)
      streams[stream] = EventReader(events)
      return nil
    case "take":
      let reader = try streams[stream].required
      guard let limit = command["deadline"]?.doubleValue else { return try await reader.next() }
      do { return try await withTimeout(.seconds(limit)) { try await reader.next() } } catch is TimeoutError {
        return nil
      }
    case "attach":
      let mode = command["mode"]?.stringValue ?? ""
      let token = command["answer"]?["token"]?.stringValue ?? ""
      let attachment = try await client(name).attach(
        to: instances ?? [], timeout: command["timeout"]?.doubleValue.flatMap { Seconds($0) }
      ) { try await answer($0, mode, token) }
      attachments[stream] = (attachment, StatusReader(attachment))
      return nil
    case "status": return try await attachments[stream].required.1.next()
    case "detach":
      try await attachments[stream].required.0.detach()
      return nil
    case "end":
      streams[stream] = nil
      return nil
    default:
      try client(name).close()
      return nil
    }
  }

  private func client(_ name: String) throws -> SDKClient { try clients[name].required }
}

private func connect(_ path: String, _ settings: JSON) async throws -> SDKClient {
  var options = ClientOptions()
  if let deadline = settings["deadline"]?.doubleValue { options.callTimeout = .seconds(deadline) }
  if let retry = settings["retry"]?.doubleValue { options.readRetry = RetrySchedule(limit: .seconds(retry)) }
  if let patience = settings["rate_limit_patience"]?.doubleValue { options.rateLimitPatience = .seconds(patience) }
  if let calls = settings["max_calls"]?.intValue { options.maxCalls = calls }
  guard let bytes = settings["max_line"]?.intValue else {
    return try await SDKClient.connect(socket: .path(path), options: options)
  }
  return SDKClient(socket: .path(path), options: options) { path, onRequest in
    var settings = ClientSettings.standard
    settings.maxLineBytes = bytes
    return try await ClientConnection.connect(path: path, settings: settings, onRequest: onRequest)
  }
}

private struct AppError: Error, CustomStringConvertible {
  let description = "this is a secret of the app"
}

private func answer(_ question: DelegateQuestion, _ mode: String, _ token: String) async throws -> DelegateAnswer {
  say(["question": try JSONValueEncoder.encode(question)])
  switch mode {
  case "deny": throw DelegateDenial()
  case "fail": throw AppError()
  case "pass": return .pass
  case "hang":
    do { try await Task.sleep(for: .seconds(600)) } catch {
      say(["cancelled": true])
      throw error
    }
    return .pass
  default: return .token(Secret(token))
  }
}
