/// The message for the operator about an instance that does not open.
enum InstanceProblem {
  static func text(_ what: String) -> String {
    "Stored data of this instance does not open (\(what) was damaged, moved or put back); restore a backup, or delete "
      + "the instance and create it again."
  }
}
