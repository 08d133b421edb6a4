import Foundation
import SDKProtocol
import Testing

@testable import DelegateBridge

/// Tools that issue credentials: the installed AWS CLI, and recorded outputs of others.
@Suite struct RealToolTests {
  private static let aws = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/aws" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// The AWS CLI signs the token locally, without a network.
  @Test(.enabled(if: aws != nil, "needs the AWS CLI")) func awsEKSGetToken() async throws {
    let program = try #require(Self.aws)
    let provider = ProviderConfiguration(
      command: [program, "eks", "get-token", "--cluster-name", "desk", "--region", "eu-central-1"],
      format: .execCredential, timeout: Seconds(literal: 120),
      environment: ["AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG"])
    let answer = try await ProviderBridge(logger: LogCapture().logger).ask(
      .sample(within: 120), of: BridgeKey(instance: "uuid"), provider: provider, owner: 1)
    #expect(answer.token?.reveal().hasPrefix("k8s-aws-v1.") == true)
    #expect(try #require(answer.expiresAt) > .now)
  }

  private func token(_ text: String, _ format: ProviderFormat) throws -> BridgeAnswer {
    try OutputFormat.parse(Array(text.utf8), format: format, question: .sample(), now: .now)
  }

  /// The indented output of `aws eks get-token`, versions 1.42 and 2, with an empty spec.
  @Test(arguments: [ProviderFormat.auto, .execCredential]) func awsAsItWrites(format: ProviderFormat) throws {
    let text = """
      {
          "kind": "ExecCredential",
          "apiVersion": "client.authentication.k8s.io/v1beta1",
          "spec": {},
          "status": {
              "expirationTimestamp": "2026-11-21T18:10:31Z",
              "token": "k8s-aws-v1.aHR0cHM6Ly9zdHMuZXUtY2VudHJhbC0xLmFtYXpvbmF3cy5jb20v"
          }
      }

      """
    #expect(try token(text, format).expiresAt == Timestamp("2026-11-21T18:10:31Z"))
  }

  /// The output of `gke-gcloud-auth-plugin` and `kubelogin`: one line, with fractions of a second or an offset.
  @Test(arguments: [
    #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false},"status":{"expirationTimestamp":"2026-11-21T18:10:31Z","token":"t"}}"#,
    #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t","expirationTimestamp":"2026-11-21T19:10:31+01:00","clientCertificateData":null}}"#,
    #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","spec":{},"status":{"expirationTimestamp":"2026-11-21T18:10:31.000000Z","token":"t"}}"#,
  ]) func pluginsOfKubectl(text: String) throws {
    let answer = try token(text, .auto)
    #expect(answer.token == Secret("t"))
    #expect(answer.expiresAt == Timestamp("2026-11-21T18:10:31Z"))
  }

  /// The output of `git credential fill` (git 2.39, store helper), and of git-credential-oauth with an expiry.
  @Test func credentialHelpersOfGit() throws {
    let store = "protocol=https\nhost=desk.example.com\nusername=oauth2\npassword=t\n"
    #expect(try token(store, .gitCredential) == BridgeAnswer(token: Secret("t")))
    let oauth = "username=oauth2\npassword=t\npassword_expiry_utc=1795284631\noauth_refresh_token=r\n"
    #expect(try token(oauth, .gitCredential).expiresAt == Timestamp(secondsSince1970: 1_795_284_631))
    let capable = "capability[]=authtype\nauthtype=Bearer\ncredential=x\nusername=u\npassword=t\n"
    #expect(try token(capable, .gitCredential).token == Secret("t"))
  }

  /// The output of `vault read -field=token`, `gcloud auth print-identity-token` and `oidc-token`: one word, with or
  /// without a newline.
  @Test(arguments: ["hvs.CAESIJ8-x_Y", "hvs.CAESIJ8-x_Y\n", "ya29.a0AfH6SMB\r\n", "eyJhbGciOiJSUzI1NiJ9.e30.c2ln\n"])
  func toolsThatPrintAWord(text: String) throws {
    let word = text.trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(try token(text, .raw) == BridgeAnswer(token: Secret(word)))
    #expect(try token(text, .auto) == BridgeAnswer(token: Secret(word)))
  }

  /// The responses in google-auth's documentation.
  @Test func executablesOfGoogleAuth() throws {
    let success = #"""
      {"version": 1, "success": true, "token_type": "urn:ietf:params:oauth:token-type:id_token",
       "id_token": "HEADER.PAYLOAD.SIGNATURE", "expiration_time": 1620433341}
      """#
    #expect(try token(success, .auto).token == Secret("HEADER.PAYLOAD.SIGNATURE"))
    let saml = #"""
      {"version": 1, "success": true, "token_type": "urn:ietf:params:oauth:token-type:saml2",
       "saml_response": "PHNhbWw+", "expiration_time": 1620433341}
      """#
    #expect(#expect(throws: SDKError.self) { try token(saml, .googleExecutable) }?.message.contains("SAML") == true)
    let failure = #"{"version": 1, "success": false, "code": "401", "message": "Caller not authorized."}"#
    let error = #expect(throws: SDKError.self) { try token(failure, .auto) }
    #expect((error?.vendorCode, error?.vendorDescription) == ("401", "Caller not authorized."))
  }
}
