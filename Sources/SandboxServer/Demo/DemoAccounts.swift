/// The accounts that every namespace of the sandbox starts with. Their secrets are public and protect nothing.
public enum DemoAccounts {
  /// The id of the Messaging app, `{A}` in `/v2/apps/{A}/…`.
  public static let appID = "5f0000000000000000000001"
  /// The id of the Messaging app's integration, in the settings URL and in `/v2/integrations/{id}/config`.
  public static let integrationID = "5f0000000000000000000002"
  /// The id of the Messaging signing key that `sdk-sandbox mint` uses by default.
  public static let kid = "app_demo"
  /// The secret of the Messaging signing key `kid`.
  public static let secret = "sandbox-demo-secret-0001-protects-nothing"
  /// The signing secrets of the Messaging app, by key id.
  public static let keys = [
    kid: secret,
    "app_second": "sandbox-demo-secret-0002-protects-nothing",
  ]
  /// The signing keys of the Messaging app with their secrets, one a line, for the help.
  public static let keyList = keys.sorted { $0.key < $1.key }.map { "    \($0.key)  \($0.value)" }.joined(
    separator: "\n")
  /// Example external ids of Messaging users. Any other id works too: a user is created at the first login.
  public static let externalIDs = ["alice", "bob", "carol"]
}

/// The Chat accounts of every namespace.
extension DemoAccounts {
  /// The key of the Zendesk Chat account that has a shared secret, so that its visitors can authenticate.
  public static let chatAccountKey = "sandboxChatAccountKey000000000001"
  /// The shared secret of the account `chatAccountKey`.
  public static let chatSecret = "sandbox-demo-secret-0005-protects-nothing"
  /// The key of a Zendesk Chat account without a shared secret.
  public static let chatAccountKeyWithoutSecret = "sandboxChatAccountKey000000000002"
}

/// The Chat Center installation of every namespace.
extension DemoAccounts {
  /// The only `providerUid` that the edna backend accepts.
  public static let providerUID = "demo_provider"
  /// The RSA public key, in PEM, for encrypting edna client ids. `GET /_keys` shows it too.
  public static let identifierPublicKey = """
    -----BEGIN PUBLIC KEY-----
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlnsY3wH0965A90T0rtVz
    PcZj5lmZP002+cqTCU9pOF/OPwEi/DXyn8oFn80CYACyYbv2Q9iU/jLkYScKJxVN
    axCf+Hn3rpFL36cZRgyF3Me3UNF5FpxEO5ksPO5/lQT9M1ZJVNTB1yFcmvalYmSQ
    pc4jEa9PRtMKybMZnXoapmEWk2ZTCeGRzer+Cqzlul34vx1yIDgW5SkIDisvTsMs
    FCrxcSXfneG+Bg477LMwTVzCsjZU39IxFS9+TBFYmr8eRqUUJs/BsZNOKfM1Nxdc
    R+Pfn4huSsOk/oObYkYlMF0lss+xGcuf2I0y8no2ffC1Y2mvpJnTXoDngfaT1yVq
    owIDAQAB
    -----END PUBLIC KEY-----
    """
  /// The private half of `identifierPublicKey`, PKCS #8 in base64. Like every secret here it is public and protects
  /// nothing.
  static let identifierPrivateKey = """
    MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCWexjfAfT3rkD3RPSu1XM9xmPmWZk/TTb5ypMJT2k4X84/ASL8\
    NfKfygWfzQJgALJhu/ZD2JT+MuRhJwonFU1rEJ/4efeukUvfpxlGDIXcx7dQ0XkWnEQ7mSw87n+VBP0zVklU1MHXIVya9qViZJCl\
    ziMRr09G0wrJsxmdehqmYRaTZlMJ4ZHN6v4KrOW6Xfi/HXIgOBblKQgOKy9OwywUKvFxJd+d4b4GDjvsszBNXMKyNlTf0jEVL35M\
    EViavx5GpRQmz8Gxk04p8zU3F1xH49+fiG5Kw6T+g5tiRiUwXSWyz7EZy5/YjTLyejZ98LVjaa+kmdNegOeB9pPXJWqjAgMBAAEC\
    ggEAGmW4rLIyr1o1kkrZ42uVPjJ1ptxz2hto9/O1zG3ORvHjg8DmyriJ+cbeKrSzZHTq1eM7pZYyOM9jqblH+igt/wiZD2UR8mER\
    nse40sVynBK60SYV6EX8YDoT/RJXdiQ8aIuL7KIv6NW04Yg/5d0/VJ6vHzSSIxn1bAGLjkjzsNjVRdZ9IGrXz2UeSjrijklcGlmQ\
    UOPMDRdM5saS3odBzTo1X018TQrDYGUyJ1FjqkBsYP9mrrVXoAFmFccQBUuKcUfzXc3aF4uU+JFk0xMMMvHKb5J+Vf1xOi8PRnVa\
    j2iV1PDHOx8gRb7mR85buRnZY4pVXBoV/kvk9czc0TpAVQKBgQDNodccWCaWbdejYF2gIaLtbrDKDPiuZPrcjLEaDf7pPmsxhy3R\
    dX3FJZn9WXDq6SM7lJ1iieYHycujPoTW00823KTf3oexsD+X8LgGq4ql91qT92MFnw2LNbNBIyTlX3ycYzpqCLYknwSjQHqPcor8\
    GudSQOTTb3+uuknRenNljQKBgQC7Vv5uIbQ1HwLZhwXN9bji/nFASWZsJNpX80a4Lt8s4SCn/4yq0jl0M934WpkPQXaEFsb9+qtM\
    ovq0sWbsdJPtf0H1EekBFpEDp+05pXBK5UjPo+UDTDL+v6qngPjxxesNb3Tw8A2UJSTB04qw6PV2LqEYrEdLyn0DWCxtnAMM7wKB\
    gEwajKFZ4pYj+v3lSWFdcY5MPDPbTyJEDzAXBeitq10pk8SV0hhGUpDnVLGWK5tVQ4vmecUhYjgZsDsvhTx4okWcrYyJMFFL+I1E\
    MueND1hTTnuawFQxRHL0Ie6Gkj4t89FxTAo4RSkSjUXaNEHo05VwY5JmoAm8p1XEblOP7St1AoGAXfRPPiShIFMhNr9E5fpqc01w\
    tvEY8Pu6lYlo2k6HlxaBLkA36CPutJyeokOtp70JF03lFtN0vcavPZgLKmN9HQtJpQMKfIU4zUCW9OZH3wgG8DweSv0YRjMR/1fr\
    gjXkoKRZXczGwpmuSZcyY28yS8cu/BTK3PP8poS+I2qvDPkCgYEAn1D/uMvG8qh0G9XOLe97NkN5clY4Uh07tSfY94Ym6gwy4nGI\
    8rzimZ9lj/dsNCxcW8lDnn/5odjGaggNRuMAyXQxGk+PH1BuJzUtdOozqr/74dv3McORdK3ze+qtowCFUmbZrOcFOGp7El2dgntR\
    sua9cFWnmcZa84flXamoZkE=
    """
}

/// The connected apps of every namespace.
extension DemoAccounts {
  /// The client id of a connected app without a secret, whose refresh tokens do not rotate.
  public static let salesforceClientID = "3MVG9sandbox.demo"
  /// The client id of a connected app without a secret, whose refresh tokens rotate: each is valid for one refresh.
  public static let salesforceRotatingClientID = "3MVG9sandbox.rotating"
  /// The client id of a connected app with a secret, whose refresh tokens do not rotate.
  public static let salesforceConfidentialClientID = "3MVG9sandbox.confidential"
  /// The secret of the app `salesforceConfidentialClientID`.
  public static let salesforceClientSecret = "sandbox-demo-secret-0004-protects-nothing"
  /// The id of the Salesforce organisation, in `id` URLs.
  public static let salesforceOrganizationID = "00Dsandbox00000001"
}

/// The Support account of every namespace.
extension DemoAccounts {
  /// The id of the Support app whose settings contain `authentication: "jwt"`.
  public static let supportAppID = "e5dd7520b178e21212f5cc2751a28f4b5a7dc76698dc79bd"
  /// The OAuth client id of the app `supportAppID`, for `Client-Identifier`.
  public static let supportClientID = "mobile_sdk_client_sandbox_jwt"
  /// The id of the Support app whose settings contain `authentication: "anonymous"`.
  public static let supportAnonymousAppID = "e5dd7520b178e21212f5cc2751a28f4b5a7dc76698dc79be"
  /// The OAuth client id of the app `supportAnonymousAppID`.
  public static let supportAnonymousClientID = "mobile_sdk_client_sandbox_anonymous"
  /// The secret with which the customer's server signs JWTs for Support, and with which the vendor verifies them.
  public static let supportSecret = "sandbox-demo-secret-0003-protects-nothing"
  /// The unique id of an agent. The exchange is refused for it, and for the e-mail of this name at `mailDomain`.
  public static let supportAgent = "agent"
  /// A unique id that the customer's server does not know.
  public static let supportStranger = "nobody"
  /// The domain of the demo users' e-mail addresses.
  public static let mailDomain = "example.test"
}
