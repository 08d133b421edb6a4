import ArgumentParser
import JSONRPC
import SDKClient
import SDKProtocol

/// The options of verbs whose method depends on the instance's kind.
struct KindCallOptions: ParsableArguments {
  @OptionGroup var target: ServiceArguments

  @Option(
    name: .customLong("param"),
    help: ArgumentHelp(
      "Another param of the kind's method; a value that is valid JSON is sent as JSON.", valueName: "k=v"))
  var params: [Assignment] = []
}

extension CommandContext {
  /// Calls the method that `verb` means for the instance's kind. The daemon says which method that is and what it
  /// reads, so a new kind needs no change here.
  ///
  /// - Parameter waits: whether to wait for the vendor's confirmation, if the method has the param `wait`.
  func call(
    verb: String, _ options: KindCallOptions, file: String? = nil, extra: JSONObject = [:], waits: Bool = false
  ) async throws {
    let instance = try await ask(InstanceGet.self, .init(instance: options.target.id))
    let kind = instance["kind"]?.stringValue ?? ""
    let method = try KindMethod.find(verb: verb, kind: kind, in: try await ask(RPCDiscover.self, Empty()))
    var extra = extra
    if let service = options.target.service { extra["service"] = .string(service) }
    if waits, method.params.contains("wait") { extra["wait"] = true }
    let isTimed = waits && method.params.contains("timeout")
    if isTimed, let timeout { extra["timeout"] = JSON(timeout.value) }
    for param in options.params { extra[param.key] = param.value }
    let read =
      method.input == .none
      ? nil : try input.secret(from: file, prompt: "\(method.member ?? "JSON") for \(options.target.id) (not shown): ")
    let params = try method.params(instance: options.target.id, read: read, extra: extra)
    do {
      let result = try await Progress(errors).during("\(verb) \(options.target.id)") {
        try await call(method.name, .object(params), isTimed: isTimed, isWaiting: waits)
      }
      try presenter.show(result)
    } catch let SDKClientError.rpc(error) where error.reason == ProtocolReason.invalidParams.rawValue {
      var failure = CommandFailure(.rpc(error))
      failure.hints.append("sdkctl explain \(method.name) shows the params with an example")
      throw failure
    }
  }
}
