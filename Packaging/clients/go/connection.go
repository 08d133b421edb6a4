package sdkd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
)

const cancelMethod = "$/cancelRequest"

// notification is a message of the daemon that expects no response.
type notification struct {
	method string
	params json.RawMessage
}

// onRequest answers a request of the daemon with the member result or error of the response.
type onRequest func(ctx context.Context, method string, params json.RawMessage) map[string]any

// outcome is how a call ended.
type outcome struct {
	result json.RawMessage
	err    *Error
}

// pendingCall is a call without a response.
type pendingCall struct {
	// outcome has room for one value, so that nobody has to wait for it.
	outcome chan outcome
	// end is the count of sent bytes at which the call has been sent as a whole.
	end int64
	// isAbandoned is whether nobody waits for it. It stays, because an error without an id may concern it.
	isAbandoned bool
}

// connection is one connection to a daemon: calls in both directions, and notifications.
type connection struct {
	socket  net.Conn
	options *Options
	answer  onRequest
	// notifications has those that wait to be taken; nil if they are dropped.
	notifications chan notification
	// done is closed when the connection has ended.
	done chan struct{}

	mutex   sync.Mutex
	lastID  int64
	calls   map[int64]*pendingCall
	answers map[string]context.CancelFunc
	// unsent are the lines that wait for the daemon, and wake is signalled when there are some.
	unsent      [][]byte
	unsentBytes int
	wake        chan struct{}
	sent        int64
	// sending is the length of the line that is being written, and 0 between lines.
	sending int
	// isBroken is whether the daemon no longer reads. What it has sent before is still read.
	isBroken    bool
	hasAnswered bool
	// lastWord is the last error without an id that concerns no known call. It explains why the daemon closes the connection.
	lastWord *Error
	// takesNoCalls is whether the daemon may read no further calls. Responses to earlier ones still come.
	takesNoCalls bool
	end          *Error
	// word is the last word that fails the calls that were in progress at the end.
	word *Error
}

func newConnection(socket net.Conn, options *Options, answer onRequest, follows bool) *connection {
	c := &connection{
		socket: socket, options: options, answer: answer, done: make(chan struct{}),
		calls: map[int64]*pendingCall{}, answers: map[string]context.CancelFunc{}, wake: make(chan struct{}, 1),
	}
	if follows {
		c.notifications = make(chan notification, options.MaxEvents)
	}
	go c.read()
	go c.send()
	return c
}

func (c *connection) isClosed() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// takesCalls reports whether new calls may use this connection.
func (c *connection) takesCalls() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.end == nil && !c.takesNoCalls
}

// call returns the result of a method. A call that is cancelled or late is cancelled at the daemon.
//
// The error is an *Error, that of a context that was cancelled, or that of params that can't be encoded.
func (c *connection) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	id, pending, err := c.begin(method, params)
	if err != nil {
		return nil, err
	}
	select {
	case found := <-pending.outcome:
		return found.take()
	case <-ctx.Done():
	}
	c.mutex.Lock()
	select {
	case found := <-pending.outcome:
		c.mutex.Unlock()
		return found.take()
	default:
	}
	pending.isAbandoned = true
	if line, err := text(map[string]any{"method": cancelMethod, "params": map[string]any{"id": id}}); err == nil {
		c.write(line)
	}
	c.closeIfRetired()
	c.mutex.Unlock()
	return nil, contextError(ctx)
}

// contextError returns the error of a context that has ended: its own if it was cancelled, and else a timeout.
func contextError(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errTimeout()
	}
	return ctx.Err()
}

func (o outcome) take() (json.RawMessage, error) {
	if o.err != nil {
		return nil, o.err
	}
	return o.result, nil
}

// begin sends a call.
func (c *connection) begin(method string, params any) (int64, *pendingCall, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.takesNoCalls {
		// The last word concerns an earlier call.
		return 0, nil, errNotSent()
	}
	if c.end != nil || c.isBroken {
		if c.lastWord != nil {
			return 0, nil, c.lastWord
		}
		return 0, nil, errNotSent()
	}
	c.lastID++
	line, err := text(map[string]any{"id": c.lastID, "method": method, "params": params})
	if err != nil {
		return 0, nil, err
	}
	if c.unsentBytes > 0 && c.unsentBytes+len(line) > c.options.MaxUnsent {
		message := "The daemon does not read: too much waits for it already. Call again later."
		return 0, nil, own(ReasonTooManyCalls, message)
	}
	pending := &pendingCall{outcome: make(chan outcome, 1), end: c.sent + int64(c.unsentBytes) + int64(len(line))}
	c.calls[c.lastID] = pending
	c.write(line)
	return c.lastID, pending, nil
}

// retire takes no new calls. The connection ends with the last call in progress.
func (c *connection) retire() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.takesNoCalls = true
	c.closeIfRetired()
}

// closeIfRetired ends a connection that takes no new calls and has none in progress. The mutex is locked.
func (c *connection) closeIfRetired() {
	if !c.takesNoCalls {
		return
	}
	for _, pending := range c.calls {
		if !pending.isAbandoned {
			return
		}
	}
	c.finish(errClosed())
}

// next returns the next notification. Its error is the end of the connection, or that of the context.
func (c *connection) next(ctx context.Context) (notification, error) {
	select {
	case found := <-c.notifications:
		return found, nil
	default:
	}
	select {
	case found := <-c.notifications:
		return found, nil
	case <-c.done:
	case <-ctx.Done():
		return notification{}, ctx.Err()
	}
	// What came before the end is still taken.
	select {
	case found := <-c.notifications:
		return found, nil
	default:
		return notification{}, c.loss()
	}
}

// loss returns why the connection has ended.
func (c *connection) loss() *Error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.lastWord != nil {
		return c.lastWord
	}
	return c.end
}

// Sending

// write queues a line. The mutex is locked.
func (c *connection) write(line []byte) {
	if c.isBroken || c.end != nil {
		return
	}
	c.unsent = append(c.unsent, line)
	c.unsentBytes += len(line)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// send writes the queued lines until the connection ends.
func (c *connection) send() {
	for {
		select {
		case <-c.done:
			return
		case <-c.wake:
		}
		for {
			c.mutex.Lock()
			if len(c.unsent) == 0 || c.end != nil {
				c.mutex.Unlock()
				break
			}
			line := c.unsent[0]
			c.unsent = c.unsent[1:]
			c.sending = len(line)
			c.mutex.Unlock()
			count, err := c.socket.Write(line)
			c.mutex.Lock()
			c.sending = 0
			c.sent += int64(count)
			c.unsentBytes -= count
			if err != nil {
				c.breakDown()
			}
			if c.end != nil {
				c.failCalls()
			}
			c.mutex.Unlock()
		}
	}
}

// breakDown ends the calls that the daemon has not read as a whole: a part of a JSON text is no call. The mutex is locked.
func (c *connection) breakDown() {
	c.isBroken = true
	c.unsent, c.unsentBytes = nil, 0
	for id, pending := range c.calls {
		if pending.end > c.sent {
			delete(c.calls, id)
			pending.outcome <- outcome{err: c.orLastWord(errNotSent())}
		}
	}
}

func (c *connection) orLastWord(err *Error) *Error {
	if c.lastWord != nil {
		return c.lastWord
	}
	return err
}

// Receiving

// read takes the messages of the daemon until the connection ends.
func (c *connection) read() {
	source := &lines{bufio.NewReaderSize(c.socket, 1<<16), c.options.MaxLine}
	for {
		line, err := source.next()
		var failure *Error
		if errors.As(err, &failure) {
			c.close(failure)
			return
		}
		if err != nil {
			c.close(errClosed())
			return
		}
		found, failure := messages(line)
		for _, one := range found {
			if failure == nil {
				failure = c.take(one)
			}
		}
		if failure != nil {
			c.close(failure)
			return
		}
	}
}

// take handles a message. It returns the error with which the connection ends.
func (c *connection) take(one message) *Error {
	if one["method"] == nil {
		return c.settle(one)
	}
	var method string
	if one["method"][0] != '"' || json.Unmarshal(one["method"], &method) != nil {
		return errBadAnswer("a method that is not a text.")
	}
	if id, isRequest := one["id"]; isRequest {
		if !isID(id) {
			return errBadAnswer("a request whose id is neither a number nor a text.")
		}
		c.request(id, method, one["params"])
		return nil
	}
	if method == cancelMethod {
		var params struct{ ID json.RawMessage }
		if json.Unmarshal(one["params"], &params) == nil {
			c.mutex.Lock()
			if cancel, ok := c.answers[string(params.ID)]; ok {
				cancel()
			}
			c.mutex.Unlock()
		}
		return nil
	}
	if c.notifications != nil && len(one["params"]) > 0 && one["params"][0] == '{' {
		// While there is no room, nothing is read, and the daemon keeps the events.
		select {
		case c.notifications <- notification{method, one["params"]}:
		case <-c.done:
		}
	}
	return nil
}

func isID(id json.RawMessage) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

// settle hands a response to its call.
func (c *connection) settle(one message) *Error {
	failure, hasFailed := one["error"]
	result, hasResult := one["result"]
	id := one["id"]
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if hasFailed && (id == nil || string(id) == "null") {
		return c.settleWithoutID(refusal(failure))
	}
	if !hasFailed && !hasResult {
		return errBadAnswer("a response without result and error.")
	}
	c.hasAnswered = true
	c.lastWord = nil
	var number int64
	if json.Unmarshal(id, &number) != nil {
		return nil
	}
	pending, ok := c.calls[number]
	if !ok {
		return nil
	}
	delete(c.calls, number)
	if hasFailed {
		pending.outcome <- outcome{err: refusal(failure)}
	} else {
		pending.outcome <- outcome{result: result}
	}
	c.closeIfRetired()
	return nil
}

// settleWithoutID handles an error that names no call. The mutex is locked.
func (c *connection) settleWithoutID(failure *Error) *Error {
	if len(c.calls) != 1 {
		c.lastWord = failure
		if len(c.calls) == 0 && !c.hasAnswered {
			// Before any call, the error refuses the connection.
			return errClosed()
		}
		c.takesNoCalls = true
		return nil
	}
	// The daemon could not read the id, and it can concern this call only. It may read nothing more.
	for id, pending := range c.calls {
		delete(c.calls, id)
		pending.outcome <- outcome{err: failure}
	}
	return errClosed()
}

// request runs the handler of a request.
func (c *connection) request(id json.RawMessage, method string, params json.RawMessage) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	key := string(id)
	switch {
	case c.end != nil || c.answers[key] != nil:
	case c.answer == nil:
		c.respond(id, unknownRequest(method))
	case len(c.answers) >= c.options.MaxQuestions:
		c.respond(id, failed(-32040, ReasonProviderFailed, "The delegate is busy."))
	default:
		ctx, cancel := context.WithCancel(context.Background())
		c.answers[key] = cancel
		go func() {
			members := c.answer(ctx, method, params)
			cancel()
			c.mutex.Lock()
			defer c.mutex.Unlock()
			// Removed before the response is sent: the daemon may reuse the id as soon as it has the response.
			delete(c.answers, key)
			c.respond(id, members)
		}()
	}
}

// respond sends a response. A daemon that asks and does not read loses its connection. The mutex is locked.
func (c *connection) respond(id json.RawMessage, members map[string]any) {
	if c.unsentBytes > c.options.MaxUnsent {
		c.finish(errBadAnswer("it asks, but does not read."))
		return
	}
	members["id"] = id
	if line, err := text(members); err == nil {
		c.write(line)
	}
}

func unknownRequest(method string) map[string]any {
	return failed(-32601, ReasonMethodNotFound, "This client answers no "+method+".")
}

func failed(code int, reason Reason, message string) map[string]any {
	return map[string]any{
		"error": map[string]any{"code": code, "message": message, "data": map[string]any{"reason": reason}},
	}
}

// close ends the connection. Calls in progress fail with the error.
func (c *connection) close(end *Error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.finish(end)
}

// finish ends the connection. The mutex is locked.
func (c *connection) finish(end *Error) {
	if c.end != nil {
		return
	}
	c.end = end
	_ = c.socket.Close()
	// The last word concerns one call, or the connection as a whole. It fails the calls unless there are several and the
	// connection has worked before: then its call is unknown.
	if len(c.calls) == 1 || !c.hasAnswered {
		c.word = c.lastWord
	}
	c.failCalls()
	for _, cancel := range c.answers {
		cancel()
	}
	close(c.done)
}

// failCalls fails the calls of a connection that has ended. The mutex is locked.
func (c *connection) failCalls() {
	for id, pending := range c.calls {
		failure := c.end
		switch {
		case c.word != nil:
			failure = c.word
		case pending.end > c.sent+int64(c.sending):
			failure = errNotSent()
		case pending.end > c.sent:
			// It is being written. How much of it the daemon has got is known when that ends.
			continue
		}
		delete(c.calls, id)
		pending.outcome <- outcome{err: failure}
	}
}
