public import JSONRPC

/// `storage.delete`: removes a value of the app.
public enum StorageDelete: SDKMethod {
  public static let name = "storage.delete"
  public static let summary = "Removes a value of the app."
  public static let documentation = """
    Removes a key; one that is not there is fine.
    """
  public static let access = MethodAccess.role(.use)
  public static let ordering = MethodOrdering.write(waits: true)
  public static let errors: [DeclaredError] = [.storageState]
  public static let example = MethodExample(
    ["instance": "front-desk", "key": "draft"])

  public typealias Params = StorageGet.Params
  public typealias Result = Empty
}
