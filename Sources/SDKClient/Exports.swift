// A client needs the methods, their shapes, JSON values and errors: one import provides them all.
@_exported public import JSONRPC
@_exported public import SDKProtocol
