// Whoever writes a client needs the methods, their shapes, JSON values and errors: one import is to be enough.
@_exported public import JSONRPC
@_exported public import SDKProtocol
