public import JSONRPC

/// `rpc.discover`: returns the contract as an OpenRPC 1.3 document.
public enum RPCDiscover: SDKMethod {
  public static let name = "rpc.discover"
  public static let summary = "The contract as an OpenRPC 1.3 document."
  public static let documentation = """
    Every method with its params, result, role, errors and an example, as one OpenRPC 1.3 document. It is equal, as
    JSON, to the file in the package.
    """
  public static let access = MethodAccess.anyone
  public static let ordering = MethodOrdering.free
  public static let needsState = false
  public static let example = MethodExample(result: ["openrpc": "1.3.2", "methods": []])

  public typealias Params = Empty

  public typealias Result = JSON
}
