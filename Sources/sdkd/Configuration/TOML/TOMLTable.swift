import JSONRPC

/// A table that is being read, with what TOML allows to be added to it.
final class TOMLTable {
  /// The way in which a table was begun. What may be added to the table depends on it.
  enum Origin {
    /// The table was begun by its header, or is the root.
    case header
    /// The table was begun by the header of a table inside it. Its own header may still follow, or dotted keys that add
    /// to it.
    case inner
    /// The table was begun by a dotted key. Other dotted keys may add to it, but no header of its own may follow.
    case dotted
  }

  enum Member {
    /// A complete value, such as an inline table.
    case value(JSON)
    case table(TOMLTable)
    /// An array of tables; never empty.
    case tables([TOMLTable])
  }

  var origin: Origin
  private var members: [(key: String, member: Member)] = []
  private var places: [UTF8Key: Int] = [:]

  init(_ origin: Origin) { self.origin = origin }

  /// The member with a key; `nil` if there is none. Setting `nil` has no effect.
  subscript(key: String) -> Member? {
    get { places[UTF8Key(key)].map { members[$0].member } }
    set {
      guard let newValue else { return }
      if let place = places[UTF8Key(key)] {
        members[place].member = newValue
      } else {
        places[UTF8Key(key)] = members.count
        members.append((key, newValue))
      }
    }
  }

  /// The table as an object, in the order of the text.
  var object: JSONObject {
    JSONObject(
      members.map { key, member in
        switch member {
        case .value(let value): (key, value)
        case .table(let table): (key, .object(table.object))
        case .tables(let tables): (key, .array(tables.map { .object($0.object) }))
        }
      })
  }
}
