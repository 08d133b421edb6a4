// A test that scripts a daemon needs the client, the methods and their shapes: one import provides them all.
@_exported public import SDKClient
