import JSONRPC
import SDKInstances
public import SDKProtocol

/// `chatCenter.getChat`: opens the chat (the vendor's guide, "Prefilling the input field").
public enum ChatCenterGetChat: SDKMethod {
  public static let name = "chatCenter.getChat"
  public static let summary = "All that an app needs to open the chat."
  public static let documentation = """
    The same as session.open: gives the prefilled text once and delivers updated data when the connection is live.
    A lost connection is tried again at once and not waited for; live says whether it is open. userNotAuthorized without
    a user. A login that was accepted just before is waited for.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.read
  public static let kind: KindName? = .ednaChatCenter
  public static let errors: [DeclaredError] = [
    .credentialState, .chatCenterLocal, .chatCenterVendor, .unreachable, .provider,
  ]
  public static let example = MethodExample(
    ["instance": "clinic"],
    result: [
      "user": [
        "externalId": "user-alice-7f3a",
        "name": "Alice",
        "authenticationType": "custom",
        "authenticated": true,
        "verified": true,
        "since": "2026-11-24T08:42:35.272Z",
      ],
      "token": [
        "token": "edna-token-of-alice",
        "tokenId": "f14659c429988277",
        "tokenType": "custom",
        "fromCache": true,
        "stale": false,
        "http": [
          "headers": [
            "Authorization": "edna-token-of-alice",
            "X-Client-Token": "acme_8a2992ac-75a0-4c4e-a574-f043fc886847%3Auser-alice-7f3a",
            "X-Ext-Client-ID": "user-alice-7f3a",
            "X-Header-Encoding": "url",
          ],
          "cookies": [:],
        ],
      ],
      "endpoint": [
        "baseUrl": "https://edna.example",
        "realtimeUrl": "wss://edna.example/ws",
        "clientId": "user-alice-7f3a",
        "deviceAddress": "acme_8a2992ac-75a0-4c4e-a574-f043fc886847",
      ],
      "visible": true,
      "prefill": "I would like to see a doctor.",
      "data": ["city": "Riga"],
      "editableFields": [],
      "history": true,
      "mayMerge": false,
      "live": true,
      "storageEpoch": "1024b10d-0",
    ])

  public typealias Params = OneInstance
  public typealias Result = Session
}
