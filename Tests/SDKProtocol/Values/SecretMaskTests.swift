import Testing

@testable import SDKProtocol

@Suite struct SecretMaskTests {
  @Test(arguments: [
    ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl from there", "got ‹masked› from there"),
    ("eyJhbGci", "‹masked›"),
    ("id=eyJhbGciOiJIUzI1NiJ9", "‹masked›"),
    ("token=abc123", "token=‹masked›"),
    ("9fK2mQ7xW4bZ8nR5tY1uC3vD_token=abc", "‹masked›"),
    ("access_token=abc&scope=x", "access_token=‹masked›&scope=x"),
    ("https://host/path?client_secret=s3cr3t;x", "https://host/path?client_secret=‹masked›;x"),
    ("https://bob:hunter2@git.example.com/x failed", "https://‹masked›@git.example.com/x failed"),
    (
      "fatal: 'https://ghp_abc@github.com' and http://a:b@c",
      "fatal: 'https://‹masked›@github.com' and http://‹masked›@c"
    ),
    ("Set-Cookie: session=abc; Path=/", "Set-Cookie: ‹masked›; Path=/"),
    ("AWS_SECRET_ACCESS_KEY=wJalr", "AWS_SECRET_ACCESS_KEY=‹masked›"),
    ("X-Vault-Token: hvs.CAES", "X-Vault-Token: ‹masked›"), ("jwt=abc", "jwt=‹masked›"),
    ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ", "‹masked›"),
    ("password: hunter2", "password: ‹masked›"),
    ("PASSWORD = hunter2 done", "PASSWORD = ‹masked› done"),
    (#"{"token":"abc","scope":"x"}"#, #"{"token":"‹masked›","scope":"x"}"#),
    ("Authorization: Bearer abc.def", "Authorization: Bearer ‹masked›"),
    ("Authorization: Token s3cr3t\nnext", "Authorization: ‹masked› ‹masked›\nnext"),
    (#"{"Authorization": "Token s3cr3t", "scope": "x"}"#, #"{"Authorization": "‹masked› ‹masked›", "scope": "x"}"#),
    ("Authorization = Token s3cr3t", "Authorization = ‹masked› ‹masked›"),
    ("> Cookie: a=b; session=q1w2", "> Cookie: ‹masked›; ‹masked›"),
    (#"{"access_token":["abc"],"scope":"x"}"#, #"{"access_token":["‹masked›"],"scope":"x"}"#),
    ("bearer abc", "bearer ‹masked›"),
    ("--api-key=12 x", "--api-key=‹masked› x"),
    ("key 0123456789abcdef0123456789abcdef end", "key ‹masked› end"),
    ("QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "‹masked›"),
    ("aB3/dE6+gH9jK2mN5pQ8sT1vW4", "‹masked›"),
    ("/tmp/0123456789abcdef01234567/x", "‹masked›"),
    // After a name, the value ends at its quotation mark, or at white space, `&`, `,` or `;`.
    ("password=correct!Hunter2-tail", "password=‹masked›"), ("password=correct$Hunter2 x", "password=‹masked› x"),
    ("password: $ecret!x, next", "password: ‹masked›, next"), ("secret=a(b)c{d}&x=y", "secret=‹masked›&x=y"),
    ("token=!abc", "token=‹masked›"), ("password = #1!x;y", "password = ‹masked›;y"),
    (#"{"password":"two words, a;b&c","x":"y"}"#, #"{"password":"‹masked›","x":"y"}"#),
    (#"{"password":"a\"b c","x":"y"}"#, #"{"password":"‹masked›","x":"y"}"#),
    (#"said {\"token\":\"a!b c\",\"x\":1}"#, #"said {\"token\":\"‹masked›\",\"x\":1}"#),
    ("password='it is a secret' x", "password='‹masked›' x"), ("token: Bearer a!b$c x", "token: Bearer ‹masked› x"),
    (#"{"access_token":["a$b"],"x":1}"#, #"{"access_token":["‹masked›"],"x":1}"#),
    // Salesforce's own tokens.
    ("token 00D5g00000ABCDE!AQEAQ.x_y is bad", "token ‹masked› is bad"),
    (#"{"access_token":"00D5g00000ABCDE!AQ518d7da05a3040.x_y"}"#, #"{"access_token":"‹masked›"}"#),
    ("sid=00D5g00000ABCDE!AQ", "‹masked›"),
    ("refresh 5Aep861.x_y failed", "refresh ‹masked› failed"),
  ]) func hides(text: String, masked: String) {
    #expect(SecretMask.mask(text) == masked)
  }

  @Test(arguments: [
    "", "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY: no", "It failed!", "5 of 9!", "no token for this user",
    "connection refused (111)", "/usr/lib/python3/dist-packages/requests/adapters.py:12",
    "login.example.com answered 503 after 12.5 s", "----------------------------------------", "a=b c=d", "key=left",
    "see https://docs.example.com/a@b or mail bob@example.com", "ssh://host/x",
    "Traceback (most recent call last):", "2026-11-21T11:09:00.250Z retry 3/5", "Grüße aus München",
  ]) func keeps(text: String) {
    #expect(SecretMask.mask(text) == text)
  }
}
