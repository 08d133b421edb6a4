import JSONRPC

extension SDKError {
  /// The shape of an error's `data`.
  static let dataSchema = JSONSchema.named(
    "ErrorData",
    .object([
      .required("reason", .oneOf([Reason.jsonSchema, ProtocolReason.jsonSchema]), "the stable name of the cause"),
      .required("retryable", .boolean, "whether the same call may succeed later"),
      .optional("instance", .string(), "the instance that the error is about"),
      .optional("member", .string(), "the path of the member that the error is about"),
      .optional("retryAfter", .number, "the seconds to wait before another attempt"),
      .optional("reference", .string(), "the reference under which the journal has more"),
      .optional("httpStatus", .integer(), "the vendor's HTTP status"),
      .optional("vendorCode", .string(), "the vendor's error code"),
      .optional("vendorDescription", .string(), "the vendor's error description"),
      .optional("hints", .array(.string()), "possible causes, and names that were meant"),
      .optional("mistakes", .array(mistake), "the mistakes in the configuration"),
      .optional("count", .integer(minimum: 1), "the number of mistakes"),
    ]))

  private static let mistake = JSONSchema.named(
    "ConfigurationMistake",
    .object([
      .required("file", .string(), "the file"), .optional("line", .integer(minimum: 1), "the line"),
      .optional("key", .string(), "the key"), .required("message", .string(), "what is wrong and what to do"),
      .optional("nearest", .string(), "the name that was meant"),
    ]))
}
