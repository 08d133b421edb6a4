import JSONRPC

/// `instance.get`: returns an instance.
public enum InstanceGet: SDKMethod {
  public static let name = "instance.get"
  public static let summary = "One instance."
  public static let documentation = """
    An instance with its state, user, settings without secrets, and bridge.
    """
  public static let access = MethodAccess.role(.observe)
  public static let ordering = MethodOrdering.read
  public static let example = MethodExample(
    ["instance": "front-desk"],
    result: MethodExample.instance)

  public typealias Params = OneInstance
  public typealias Result = Instance
}
