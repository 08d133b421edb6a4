import ArgumentParser
import JSONRPC
import SDKProtocol

/// The action and the instance of a verb, in either order: `storage list desk` and `storage desk list`.
struct ActionOrder<Action: RawRepresentable & CaseIterable> where Action.RawValue == String {
  let action: Action
  let instance: InstanceID

  /// Sorts the two words. Where both are actions, the first is the instance: `storage list get KEY` reads the instance
  /// `list`.
  ///
  /// - Throws: `ValidationError`.
  init(_ first: String, _ second: String) throws {
    let (word, id) = Action(rawValue: second) == nil ? (first, second) : (second, first)
    guard let action = Action(rawValue: word) else {
      let names = Action.allCases.map(\.rawValue)
      let known = names.joined(separator: ", ")
      let nearest = [first, second].lazy.compactMap { $0.nearest(in: names) }.first
      throw ValidationError(
        "Neither \(first) nor \(second) is one of \(known)." + (nearest.map { " Did you mean \($0)?" } ?? ""))
    }
    guard let instance = InstanceID(id) else { throw ValidationError("\(id) can't be the id of an instance.") }
    self.action = action
    self.instance = instance
  }
}

/// An action of `sdkctl storage`.
enum StorageAction: String, ExpressibleByArgument, CaseIterable {
  case list, get, put, delete
}

/// An action of `sdkctl push`.
enum PushAction: String, ExpressibleByArgument, CaseIterable {
  case list, register, unregister
}
