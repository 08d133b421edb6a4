// A test that scripts a daemon needs the client, the methods and their shapes: one import is to be enough.
@_exported public import SDKClient
