import Foundation
import Testing

@testable import SandboxServer

struct FormBodyTests {
  @Test func `A form is decoded, and the first of each name counts`() {
    let body = Data("a=1&b=x+y%2B%C3%A9&a=2&empty=&bare".utf8)
    let items = FormBody.items(body, contentType: "Application/x-www-form-urlencoded; charset=utf-8")
    #expect(items == ["a": "1", "b": "x y+é", "empty": "", "bare": ""])
  }

  @Test func `What was encoded is decoded again`() {
    let items = ["user_token": "a b&c=d+é%/?", "other": ""]
    #expect(FormBody.items(FormBody.encode(items), contentType: FormBody.contentType) == items)
  }

  @Test(arguments: [
    ("a=1", "application/json"), ("a=1", nil), ("a=%zz", FormBody.contentType), ("%ff=1", FormBody.contentType),
  ])
  func `Another type and wrong encoding are no form`(body: String, type: String?) {
    #expect(FormBody.items(Data(body.utf8), contentType: type) == nil)
  }
}
