import FlyingFox
import Foundation

/// A converter of the sandbox's replies to the HTTP library's responses.
enum ReplyWriter {
  static func write(_ reply: SandboxReply, to method: HTTPMethod) -> HTTPResponse {
    switch reply {
    // `SandboxHandler` has already handled upgrades.
    case .drop, .upgrade:
      HTTPResponse(webSocket: DroppedConnection())
    case .send(let response):
      plain(response, to: method)
    case .stream(let response, let stream):
      HTTPResponse(
        statusCode: statusCode(response.status), headers: headers(of: response),
        body: HTTPBodySequence(from: EventBody(stream: stream)))
    case .sendAndClose(var response):
      closing(&response, sending: response.body.count)
    case .cut(var response):
      cut(&response)
    }
  }

  private static func plain(_ response: SandboxResponse, to method: HTTPMethod) -> HTTPResponse {
    var headers = headers(of: response)
    // Responses to HEAD, and those with status 204 or 304, have no body, whatever a script says: the client would take
    // it for the next response.
    let isBare = method == .HEAD || response.status == 204 || response.status == 304
    if method == .HEAD { headers[.contentLength] = String(response.body.count) }
    return HTTPResponse(
      statusCode: statusCode(response.status), headers: headers, body: isBare ? Data() : response.body)
  }

  private static func cut(_ response: inout SandboxResponse) -> HTTPResponse {
    if response.body.count < 2 { response.body = Data(#"{"sandbox":"the rest of this body is missing"}"#.utf8) }
    return closing(&response, sending: response.body.count / 2)
  }

  private static func closing(_ response: inout SandboxResponse, sending count: Int) -> HTTPResponse {
    response.set("Connection", to: ["close"])
    let announced = response.body.count
    return HTTPResponse(
      statusCode: statusCode(response.status), headers: headers(of: response),
      body: HTTPBodySequence(from: BrokenBody(bytes: response.body.prefix(count)), count: announced))
  }

  private static func headers(of response: SandboxResponse) -> HTTPHeaders {
    var headers = HTTPHeaders()
    // The library does the framing: a scripted length would desynchronise the connection.
    let framing: Set<String> = ["content-length", "transfer-encoding"]
    for (name, values) in response.headers where !framing.contains(name.lowercased()) {
      headers.setValues(values, for: HTTPHeader(name))
    }
    return headers
  }

  private static func statusCode(_ status: Int) -> HTTPStatusCode {
    HTTPStatusCode(status, phrase: phrases[status] ?? "Status \(status)")
  }

  private static let phrases = [
    200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 301: "Moved Permanently", 302: "Found",
    304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
    409: "Conflict", 410: "Gone", 413: "Content Too Large", 422: "Unprocessable Content", 429: "Too Many Requests",
    500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
  ]
}
