package sdkd

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestSecretsNeverPrint(t *testing.T) {
	const text = "eyJhbGciOi"
	secret := NewSecret(text)
	type hidden struct{ inner Secret }
	values := []any{
		secret, &secret, []Secret{secret}, map[string]Secret{"a": secret}, hidden{secret}, &hidden{secret},
		Token{Token: secret}, &Token{Token: secret, HTTP: &TokenHTTP{Headers: map[string]Secret{"a": secret}}},
		DelegateTokenAnswer{Token: secret}, ChatUser{Identifier: secret},
	}
	for _, value := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%t", "%20s", "%p"} {
			found := fmt.Sprintf(verb, value)
			if strings.Contains(found, text) || strings.Contains(found, fmt.Sprintf("%x", text)) {
				t.Errorf("%s of %T prints the secret", verb, value)
			}
		}
		if found, err := json.Marshal(value); err != nil || strings.Contains(string(found), text) {
			t.Errorf("JSON of %T: %s, %v", value, found, err)
		}
	}
	if found, err := xml.Marshal(secret); err != nil || strings.Contains(string(found), text) {
		t.Errorf("XML: %s, %v", found, err)
	}
	if secret.String() != mask || secret.GoString() != mask || secret.Reveal() != text {
		t.Error("the secret has another text")
	}
	var none Secret
	if none.Reveal() != "" || !none.IsEmpty() || none.String() != mask {
		t.Error("the zero secret is not empty")
	}
}

func TestSecretsReachTheDaemon(t *testing.T) {
	no := false
	params := map[string]any{
		"jwt":  NewSecret("one"),
		"auth": &ChatAuth{Token: NewSecret("two"), Scheme: "s", IsEncrypted: &no},
		"list": []any{NewSecret("three"), map[string]any{"deep": NewSecret("four")}},
		"user": ChatUser{Identifier: NewSecret("five")},
		"none": (*AuthenticationSettings)(nil),
	}
	line, err := text(map[string]any{"params": revealed(params)})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"jsonrpc":"2.0","params":{"auth":{"isEncrypted":false,"scheme":"s","token":"two"},"jwt":"one",` +
		`"list":["three",{"deep":"four"}],"none":null,"user":{"identifier":"five"}}}` + "\n"
	if string(line) != want {
		t.Errorf("%s", line)
	}
}

func TestWhatJSONCannotHoldIsRefused(t *testing.T) {
	for value, isRefused := range map[string]bool{
		"a\xff": true, "\xc3": true, `\\` + "\xff": true, "\ufffd": false, `\ufffd`: false, `\\ufffd`: false, "Grüße <&>": false,
	} {
		line, err := text(map[string]any{"params": value})
		if (err != nil) != isRefused {
			t.Errorf("%q: %s, %v", value, line, err)
		}
	}
}

func TestLinesAreSplitAndBounded(t *testing.T) {
	for _, wrap := range []func(io.Reader) io.Reader{
		func(reader io.Reader) io.Reader { return reader }, iotest.OneByteReader, iotest.HalfReader,
	} {
		source := &lines{bufio.NewReader(wrap(strings.NewReader("one\n\n  \n123456\n1234567\n"))), 6}
		for _, want := range []string{"one", "123456"} {
			if line, err := source.next(); err != nil || string(line) != want {
				t.Errorf("%q, %v in place of %q", line, err, want)
			}
		}
		if _, err := source.next(); !errors.Is(err, ReasonBadAnswer) {
			t.Errorf("a line that is too long: %v", err)
		}
	}
}

func TestWhatIsNoMessageIsRefused(t *testing.T) {
	for _, line := range []string{
		"no json", "\xff\xfe{}", "[1]", `"x"`, "null", "[null]", strings.Repeat("[", 100_000), `{"a":1} {"b":2}`, "{", `{"a":"\xc3"}`,
	} {
		if found, err := messages([]byte(line)); err == nil || err.Reason != ReasonBadAnswer {
			t.Errorf("%.20q: %v, %v", line, found, err)
		}
	}
	found, err := messages([]byte(` [{"id":1},{"id":2}]`))
	if err != nil || len(found) != 2 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestEachSentenceIsInTheLanguageThatIsAsked(t *testing.T) {
	for language, want := range map[string]string{
		"en": "Please sign in again.", "de-AT": "Bitte melden Sie sich noch einmal an.", "ru_RU.UTF-8": "Пожалуйста, выполните вход ещё раз.",
		"FR": "Veuillez vous connecter à nouveau.", "es": "Inicie sesión de nuevo, por favor.", "": "Please sign in again.",
		"tlh": "Please sign in again.",
	} {
		if found := ReasonReauthNeeded.Sentence(language); found != want {
			t.Errorf("%s: %s", language, found)
		}
	}
	if found := (&Error{Reason: "somethingNew"}).Sentence("en"); found != sentences[generalSentence]["en"] || found == "" {
		t.Errorf("a reason of a later daemon: %q", found)
	}
	for name, texts := range sentences {
		if len(texts) != len(Languages) {
			t.Errorf("%s has not all languages", name)
		}
	}
}

func TestErrorsOfTheDaemonHaveItsData(t *testing.T) {
	err := refusal(json.RawMessage(`{"code":-32010,"message":"No.","data":{"reason":"reauthNeeded","retryable":false,` +
		`"retryAfter":1e300,"instance":"desk","member":"a.b","hints":["one",2,"two"],"reference":"r1"}}`))
	want := &Error{
		Reason: ReasonReauthNeeded, Message: "No.", Code: -32010, RetryAfter: 24 * time.Hour, Instance: "desk", Member: "a.b",
		Hints: []string{"one", "two"}, Data: err.Data,
	}
	if !reflect.DeepEqual(err, want) || err.Data["reference"] != "r1" {
		t.Errorf("%#v", err)
	}
	var wrapped error = fmt.Errorf("at the desk: %w", err)
	if !errors.Is(wrapped, ReasonReauthNeeded) || errors.Is(wrapped, ReasonNetwork) {
		t.Error("errors.Is compares something else than the reason")
	}
	for _, text := range []string{`null`, `1`, `[]`, `{}`, `{"code":"x","message":"y"}`, `{"code":1.5,"message":"y"}`, `{"code":1}`} {
		if err := refusal(json.RawMessage(text)); err.Reason != ReasonBadAnswer {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, data := range []string{`null`, `1`, `[]`, `{"reason":1,"retryable":"yes","retryAfter":-1,"hints":{}}`} {
		err := refusal(json.RawMessage(`{"code":1,"message":"m","data":` + data + `}`))
		if err.Reason != "unknown" || err.Retryable || err.RetryAfter != 0 || err.Hints != nil {
			t.Errorf("%s: %#v", data, err)
		}
	}
}

func TestPausesGrowUpToALimit(t *testing.T) {
	schedule := retrySchedule(time.Second)
	var total time.Duration
	for count := 0; ; count++ {
		pause, ok := schedule.next(1)
		if !ok {
			break
		}
		if pause > 500*time.Millisecond || count > 20 {
			t.Fatalf("pause %d is %v", count, pause)
		}
		total += pause
	}
	if total != time.Second {
		t.Errorf("the pauses are %v in all", total)
	}
	endless := reconnectSchedule()
	for count := 0; count < 1000; count++ {
		if pause, ok := endless.next(1); !ok || pause > 2*time.Second {
			t.Fatalf("pause %d is %v", count, pause)
		}
	}
}

func TestEventsHaveTheDataOfTheirType(t *testing.T) {
	const head = `{"cursor":"c","time":"2026-01-01T00:00:00.000Z","instance":"desk","kind":"zendesk.messaging",`
	var event Event
	if err := json.Unmarshal([]byte(head+`"type":"refreshFailed","data":{"reason":"network","more":1}}`), &event); err != nil {
		t.Fatal(err)
	}
	if data, ok := event.Data.(*RefreshFailedData); !ok || data.Reason != ReasonNetwork || event.Type != EventTypeRefreshFailed {
		t.Errorf("%#v", event)
	}
	if err := json.Unmarshal([]byte(head+`"type":"somethingNew","data":{"a":1}}`), &event); err != nil {
		t.Fatal(err)
	}
	if data, ok := event.Data.(json.RawMessage); !ok || string(data) != `{"a":1}` {
		t.Errorf("%#v", event)
	}
}

func TestAResultOfSeveralFormsIsReadByItsMembers(t *testing.T) {
	var result ChatCenterAuthorizeResult
	if err := json.Unmarshal([]byte(`{"accepted":true,"operation":"o1"}`), &result); err != nil || result.ChatCenterAccepted == nil {
		t.Errorf("%#v, %v", result, err)
	}
	result = ChatCenterAuthorizeResult{}
	text := `{"authenticationType":"custom","authenticated":true,"verified":false}`
	if err := json.Unmarshal([]byte(text), &result); err != nil || result.User == nil || !result.User.Authenticated {
		t.Errorf("%#v, %v", result, err)
	}
	if err := json.Unmarshal([]byte(`{}`), &result); err == nil {
		t.Error("a result without members was read")
	}
}

func TestStandardTrust(t *testing.T) {
	own := os.Geteuid()
	folder := t.TempDir()
	for _, one := range []struct {
		server Server
		want   bool
	}{
		{Server{own, 1000, folder + "/s.sock"}, true},
		{Server{own + 1, 1000, folder + "/s.sock"}, false},
		{Server{0, 0, folder + "/s.sock"}, false},
		{Server{0, 1, folder + "/s.sock"}, false},
		{Server{0, 1000, folder + "/s.sock"}, true},
		{Server{own + 1, 1000, "/run/sdkd-tenants/../s.sock"}, false},
		{Server{own + 1, 1000, "/run/sdkd-tenants/a/s.sock"}, false},
	} {
		if found := StandardTrust(one.server); found != one.want {
			t.Errorf("%+v: %v", one.server, found)
		}
	}
}

func TestSockets(t *testing.T) {
	t.Setenv("SDKD_SOCKET", "")
	folder := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", folder)
	if AutomaticSocket() != SystemSocket() || UserSocket() != folder+"/sdkd/sdkd.sock" {
		t.Error(AutomaticSocket(), UserSocket())
	}
	if err := os.MkdirAll(folder+"/sdkd", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(UserSocket(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if AutomaticSocket() != UserSocket() {
		t.Error(AutomaticSocket())
	}
	t.Setenv("SDKD_SOCKET", "/x")
	if AutomaticSocket() != "/x" {
		t.Error(AutomaticSocket())
	}
	t.Setenv("XDG_RUNTIME_DIR", "")
	if UserSocket() != fmt.Sprintf("/run/user/%d/sdkd/sdkd.sock", os.Getuid()) {
		t.Error(UserSocket())
	}
	if path, err := TenantSocket("acme"); err != nil || path != "/run/sdkd-tenants/acme.sock" {
		t.Error(path, err)
	}
	for _, name := range []string{"", "a/b", "..", "a\n", strings.Repeat("a", 27)} {
		if _, err := TenantSocket(name); !errors.Is(err, ReasonBadLocation) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestPathsThatLeadToNoSocket(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(folder+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		folder + "/none", folder + "/file", folder + "/file/below", folder + "/a\x00b", "/" + strings.Repeat("a", 120),
	} {
		if _, err := Connect(context.Background(), &Options{Socket: path}); !errors.Is(err, ReasonNoDaemon) {
			t.Errorf("%.40q: %v", path, err)
		}
	}
}

func TestALeadingAtSignIsNotTheAbstractNamespace(t *testing.T) {
	name := fmt.Sprintf("@sdkd-test-%d", os.Getpid())
	listener, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if _, err := Connect(context.Background(), &Options{Socket: name}); !errors.Is(err, ReasonNoDaemon) {
		t.Errorf("the abstract socket was used: %v", err)
	}
}

// listen serves connections by a function until the test ends. It returns the path of the socket.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(connection)
		}
	}()
	return path
}

func TestNothingIsSentToAServerThatIsNotTrusted(t *testing.T) {
	received := make(chan int, 1)
	path := listen(t, func(connection net.Conn) {
		data, _ := io.ReadAll(connection)
		received <- len(data)
	})
	var seen Server
	refuse := func(server Server) bool {
		seen = server
		return false
	}
	if _, err := Connect(context.Background(), &Options{Socket: path, Trust: refuse}); !errors.Is(err, ReasonUntrustedServer) {
		t.Error(err)
	}
	if count := <-received; count != 0 || seen != (Server{os.Geteuid(), os.Getpid(), path}) {
		t.Errorf("%d bytes were sent to %+v", count, seen)
	}
}

func TestADeadlineIsATimeoutAndACancellationIsNone(t *testing.T) {
	path := listen(t, func(connection net.Conn) { _, _ = io.Copy(io.Discard, connection) })
	client, err := Connect(context.Background(), &Options{Socket: path, Deadline: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, err = client.Daemon.Info(context.Background())
	if !errors.Is(err, ReasonTimeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	err = client.Storage.Put(context.Background(), "desk", "k", 1, nil)
	if !errors.Is(err, ReasonOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	var failure *Error
	if _, err = client.Daemon.Info(cancelled); !errors.Is(err, context.Canceled) || errors.As(err, &failure) {
		t.Error(err)
	}
	if err := client.Storage.Put(context.Background(), "desk", "k", func() {}, nil); err == nil || errors.As(err, &failure) {
		t.Errorf("a value that JSON can't hold: %v", err)
	}
}

func TestAClientThatIsClosedEndsWhatWaits(t *testing.T) {
	path := listen(t, func(connection net.Conn) { _, _ = io.Copy(io.Discard, connection) })
	client, err := Connect(context.Background(), &Options{Socket: path})
	if err != nil {
		t.Fatal(err)
	}
	events := client.Follow(nil)
	ended := make(chan error)
	go func() {
		_, err := events.Next(context.Background())
		ended <- err
	}()
	go func() {
		ended <- events.Start(context.Background())
	}()
	for events.connectionOf() == nil {
		time.Sleep(time.Millisecond)
	}
	_ = client.Close()
	for count := 0; count < 2; count++ {
		if err := <-ended; !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	}
	if _, err := client.Daemon.Info(context.Background()); !errors.Is(err, ReasonClientClosed) {
		t.Error(err)
	}
	if _, err := client.Follow(nil).Next(context.Background()); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if _, err := client.Attach(context.Background(), nil, nil, nil); !errors.Is(err, ReasonClientClosed) {
		t.Error(err)
	}
	_ = client.Close()
}

func (e *Events) connectionOf() *connection {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.connection
}

func TestADaemonThatAsksAndDoesNotReadIsLeft(t *testing.T) {
	left := make(chan error, 1)
	path := listen(t, func(connection net.Conn) {
		for number := 0; ; number++ {
			if _, err := fmt.Fprintf(connection, `{"jsonrpc":"2.0","id":%d,"method":"delegate.getToken"}`+"\n", number); err != nil {
				left <- err
				return
			}
		}
	})
	client, err := Connect(context.Background(), &Options{Socket: path, MaxUnsent: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	<-left
}

func TestAGoroutineThatWaitsForItsTurnStillHasItsDeadline(t *testing.T) {
	path := listen(t, func(connection net.Conn) { _, _ = io.Copy(io.Discard, connection) })
	client, err := Connect(context.Background(), &Options{Socket: path})
	if err != nil {
		t.Fatal(err)
	}
	events := client.Follow(nil)
	ended := make(chan error)
	go func() {
		_, err := events.Next(context.Background())
		ended <- err
	}()
	for events.connectionOf() == nil {
		time.Sleep(time.Millisecond)
	}
	limited, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := events.Next(limited); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	_ = client.Close()
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// slowConn is a connection that ends while a write is in progress.
type slowConn struct {
	net.Conn
	writing, ended chan struct{}
	// count is how much of the write succeeds.
	count int
}

func (s *slowConn) Read([]byte) (int, error) {
	<-s.writing
	return 0, io.EOF
}

func (s *slowConn) Write(data []byte) (int, error) {
	close(s.writing)
	<-s.ended
	if s.count < 0 {
		return len(data), nil
	}
	return s.count, io.ErrClosedPipe
}

func (s *slowConn) Close() error {
	close(s.ended)
	return nil
}

func TestACallThatWasSentWhileTheConnectionEndedMayHaveRun(t *testing.T) {
	for count, wasNotSent := range map[int]bool{-1: false, 0: true, 20: true} {
		socket := &slowConn{writing: make(chan struct{}), ended: make(chan struct{}), count: count}
		connection := newConnection(socket, Options{}.withDefaults(), nil, false)
		_, err := connection.call(context.Background(), "storage.put", map[string]any{"instance": "desk"})
		var failure *Error
		if !errors.As(err, &failure) || failure.Reason != ReasonConnectionClosed || failure.wasNotSent != wasNotSent {
			t.Errorf("%d bytes: %#v", count, err)
		}
	}
}

func TestAHandlerThatPanicsIsLoggedAndEndsNothing(t *testing.T) {
	answers := make(chan string, 1)
	path := listen(t, func(connection net.Conn) {
		reader := bufio.NewReader(connection)
		if line, _ := reader.ReadString('\n'); !strings.Contains(line, "delegate.attach") {
			return
		}
		fmt.Fprintln(connection, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		fmt.Fprintln(connection, `{"jsonrpc":"2.0","id":7,"method":"delegate.getToken","params":{"question":"getToken","instance":"desk",`+
			`"deadline":"2026-01-01T00:00:00.000Z"}}`)
		line, _ := reader.ReadString('\n')
		answers <- line
	})
	client, err := Connect(context.Background(), &Options{Socket: path, Log: log.New(io.Discard, "", 0)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	panics := func(context.Context, *DelegateQuestion) (Answer, error) { panic("this is a secret of the app") }
	if _, err := client.Attach(context.Background(), []string{"desk"}, panics, nil); err != nil {
		t.Fatal(err)
	}
	if line := <-answers; !strings.Contains(line, "providerFailed") || strings.Contains(line, "secret") {
		t.Error(line)
	}
}
