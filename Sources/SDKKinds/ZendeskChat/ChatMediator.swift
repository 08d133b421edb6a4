import Concurrency
import JSONRPC
import SDKInstances
import SDKProtocol

/// The registration of a visitor on the chat socket. It sends the register frame and reads the
/// acknowledgement. All later traffic on chat sockets is left to the app.
struct ChatMediator: Sendable {
  /// The vendor's response to a register frame.
  enum Verdict: Sendable, Hashable {
    case registered
    /// The visitor is banned.
    case dropped
    case refused(String)

    /// Reads a frame; `nil` if it is not an acknowledgement.
    init?(_ text: String) {
      guard let frame = try? JSONParser.parse(text, .server) else { return nil }
      let error = frame["error"]?.stringValue
      guard frame["__type"]?.stringValue == "register_ack" || error != nil else { return nil }
      switch error {
      case nil: self = .registered
      case "dropped"?: self = .dropped
      case let words?: self = .refused(words)
      }
    }
  }

  /// The maximum number of frames that are read while waiting for the acknowledgement.
  private static let patience = 32

  let url: String
  let settings: ChatSettings
  let services: AdapterServices

  /// Registers a visitor and closes the socket again.
  ///
  /// - Returns: whether the visitor may chat; `false` for a banned one.
  /// - Throws: `invalidAccessToken` for a refused id token; `invalidAccountKey`; the errors of an unreachable vendor.
  func admits(machineId: String, idToken: Secret?) async throws(SDKError) -> Bool {
    let timeout = settings.common.timeout
    let frame = frame(machineId: machineId, idToken: idToken)
    let outcome = (try? await withTimeout(.seconds(timeout)) { await register(frame) }) ?? .failure(.timeout)
    switch outcome {
    case .success(.registered): return true
    case .success(.dropped): return false
    case .success(.refused("unauthorized")):
      throw SDKError(
        .vendor, .invalidAccessToken, "Zendesk Chat refused the id token; a new one needs another JWT.",
        vendorCode: "unauthorized", hints: [ChatGrant.secretHint])
    case .success(.refused(let words)):
      throw SDKError(
        .vendor, .invalidAccountKey, "Zendesk Chat does not know whom to register; check account_key and app_id.",
        vendorCode: services.history.sent([Secret(machineId)] + (idToken.map { [$0] } ?? [])).text(words))
    case .failure(let failure): throw ChatWire.failure(failure, setting: "mediator_url")
    }
  }

  private func register(_ frame: String) async -> Result<Verdict, HTTPFailure> {
    let common = settings.common
    do throws(HTTPFailure) {
      let socket = try await services.sockets.open(
        SocketRequestParts(
          instance: services.instance, url: url, timeout: common.timeout, caFile: common.caFile))
      let verdict = await Self.answer(to: frame, on: socket)
      await socket.close()
      return verdict
    } catch {
      return .failure(error)
    }
  }

  private static func answer(to frame: String, on socket: any VendorSocket) async -> Result<Verdict, HTTPFailure> {
    do throws(HTTPFailure) {
      try await socket.send(frame)
      for _ in 0..<patience {
        guard let text = try await socket.next() else { break }
        if let verdict = Verdict(text) { return .success(verdict) }
      }
      return .failure(.network("the chat socket gave no acknowledgement"))
    } catch {
      return .failure(error)
    }
  }

  /// Returns the register frame, with the members that the vendor's SDK sends.
  func frame(machineId: String, idToken: Secret?) -> String {
    var frame: JSONObject = ["__type": "register", "accountKey": .string(settings.accountKey)]
    frame["app_id"] = settings.appId.map(JSON.string)
    frame["idt"] = idToken.map { .string($0.reveal()) }
    frame["mid"] = .string(machineId)
    frame["source"] = "linux_sdk"
    frame["source_ver"] = .string(SDKVersion.program)
    frame["ua"] = .string("sdkd/\(SDKVersion.program) (Linux)")
    frame["cookie_law"] = false
    for name in ["title", "url", "ref"] { frame[name] = "" }
    return JSONWriter.text(of: .object(frame))
  }
}
