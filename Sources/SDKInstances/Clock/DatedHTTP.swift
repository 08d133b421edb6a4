/// An HTTP client that learns the vendor's time from the responses to an instance, so that kinds need not.
struct DatedHTTP: HTTPSending {
  let base: any HTTPSending
  let clock: VendorClock

  func send(_ request: HTTPRequestParts) async throws(HTTPFailure) -> HTTPResponseParts {
    let sentAt = clock.sending()
    let response = try await base.send(request)
    clock.note(headers: response.headers, sentAt: sentAt)
    return response
  }

  func forget(instance: String) async { await base.forget(instance: instance) }
}
