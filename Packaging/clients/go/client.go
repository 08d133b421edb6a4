package sdkd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand"
	"sync"
	"time"
)

const connectTimeout = 5 * time.Second

// Options are the deadlines, retries and limits of a client. A member that is zero has its default.
type Options struct {
	// Socket is the path of the daemon's socket; by default that of AutomaticSocket.
	Socket string
	// Deadline is the time limit of a call whose context has none, retries included: 2 minutes.
	Deadline time.Duration
	// Retry is the time for which calls that were not run, and reads whose answer was lost, are sent again: 5 seconds.
	// A negative one is none.
	Retry time.Duration
	// RateLimitPatience is the longest time that a read over the daemon's rate limit waits in total: none.
	RateLimitPatience time.Duration
	// MaxCalls is the maximum number of calls in progress: 1024. One more fails with ReasonTooManyCalls.
	MaxCalls int
	// MaxUnsent is the maximum number of bytes that wait for the daemon to read them: 8 MiB. A call beyond it fails
	// with ReasonTooManyCalls.
	MaxUnsent int
	// MaxLine is the maximum number of bytes in a line of the daemon: 64 MiB. A longer one ends the connection.
	MaxLine int
	// MaxEvents is the maximum number of events that wait to be taken: 256. While it is reached, the client does not
	// read, and the daemon keeps the events.
	MaxEvents int
	// MaxQuestions is the maximum number of questions that a delegate answers at a time: 64. Others pass it by.
	MaxQuestions int
	// Trust is the rule for the servers to trust: StandardTrust.
	Trust func(Server) bool
	// Log gets the errors of a delegate's handler, which the daemon is not told: log.Default().
	Log *log.Logger
}

// withDefaults returns the options with defaults in place of zeros. It panics if one is negative that must not be.
func (o Options) withDefaults() *Options {
	if o.Deadline < 0 || o.RateLimitPatience < 0 {
		panic("sdkd: a time in the options is negative")
	}
	if o.Deadline == 0 {
		o.Deadline = 2 * time.Minute
	}
	if o.Retry == 0 {
		o.Retry = 5 * time.Second
	}
	for _, limit := range []struct {
		value *int
		def   int
	}{{&o.MaxCalls, 1024}, {&o.MaxUnsent, 8 << 20}, {&o.MaxLine, 64 << 20}, {&o.MaxEvents, 256}, {&o.MaxQuestions, 64}} {
		if *limit.value < 0 {
			panic("sdkd: a limit in the options is negative")
		}
		if *limit.value == 0 {
			*limit.value = limit.def
		}
	}
	if o.Trust == nil {
		o.Trust = StandardTrust
	}
	if o.Log == nil {
		o.Log = log.Default()
	}
	return &o
}

// Client is a client of the daemon. Any number of goroutines may use it.
//
// Calls share one connection, which is reopened when it was lost. While the daemon restarts, reads are sent again, and
// writes that certainly were not run. A write that may have been run fails with ReasonOutcomeUnknown.
type Client struct {
	Methods

	options *Options
	// ending is closed when the client is closed.
	ending chan struct{}

	mutex sync.Mutex
	// path is the path of earlier connections, kept so that a reconnect never reaches another daemon.
	path       string
	connection *connection
	// retired are earlier connections that still have calls in progress.
	retired  []*connection
	opening  *opening
	calls    int
	parts    map[part]struct{}
	isClosed bool
}

// part is what has a connection of its own and ends with the client.
type part interface {
	end()
}

// opening is an attempt to connect, for which several calls wait.
type opening struct {
	done       chan struct{}
	connection *connection
	err        *Error
}

// Connect connects to the daemon. It fails with an *Error. Close the client when it is no longer needed.
func Connect(ctx context.Context, options *Options) (*Client, error) {
	if options == nil {
		options = &Options{}
	}
	client := &Client{options: options.withDefaults(), ending: make(chan struct{}), parts: map[part]struct{}{}}
	client.Methods = newMethods(client)
	ctx, cancel := client.limited(ctx)
	defer cancel()
	if _, err := client.shared(ctx); err != nil {
		_ = client.Close()
		return nil, err
	}
	return client, nil
}

// Close closes the client. Its calls, events and delegates end. The error is always nil.
func (c *Client) Close() error {
	c.mutex.Lock()
	if !c.isClosed {
		c.isClosed = true
		close(c.ending)
	}
	parts := c.parts
	c.parts = map[part]struct{}{}
	connections := c.retired
	if c.connection != nil {
		connections = append(connections, c.connection)
	}
	c.mutex.Unlock()
	for one := range parts {
		one.end()
	}
	for _, connection := range connections {
		connection.close(errClosed())
	}
	return nil
}

// Call calls a method by its name, and stores its result in the value that result points to, unless that is nil.
//
// It is for methods of later daemons; the members of Client are typed. Params that are nil are none. Secrets in maps and
// slices of any, and in the types of this package, are sent as their texts. Whether the method may be sent again is what
// the contract says; one that is not in it is a write.
func (c *Client) Call(ctx context.Context, method string, params map[string]any, result any) error {
	return c.send(ctx, method, params, result)
}

// send sends a call, and repeats it where that is safe.
func (c *Client) send(ctx context.Context, method string, params map[string]any, result any) error {
	c.mutex.Lock()
	if c.calls >= c.options.MaxCalls {
		message := fmt.Sprintf("%d calls wait already. Call again when some have returned.", c.calls)
		c.mutex.Unlock()
		return own(ReasonTooManyCalls, message)
	}
	c.calls++
	c.mutex.Unlock()
	defer func() {
		c.mutex.Lock()
		c.calls--
		c.mutex.Unlock()
	}()
	ctx, cancel := c.limited(ctx)
	defer cancel()
	found, err := c.repeat(ctx, method, revealed(orEmpty(params)))
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(found, result); err != nil {
		failure := errBadAnswer(fmt.Sprintf("the result of %s: %v.", method, err))
		failure.cause = err
		return failure
	}
	return nil
}

func orEmpty(params map[string]any) map[string]any {
	if params == nil {
		return map[string]any{}
	}
	return params
}

// limited returns a context that certainly has a deadline.
func (c *Client) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.options.Deadline)
}

// background returns a context for work that outlives the call that began it, up to a deadline.
func (c *Client) background() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), c.options.Deadline)
}

func (c *Client) repeat(ctx context.Context, method string, params any) (json.RawMessage, error) {
	decisions := &attempts{method, reads[method], retrySchedule(c.options.Retry), c.options.RateLimitPatience}
	for {
		connection, err := c.shared(ctx)
		if err == nil {
			var result json.RawMessage
			if result, err = connection.call(ctx, method, params); err == nil {
				return result, nil
			}
		}
		var failure *Error
		if !errors.As(err, &failure) {
			return nil, err
		}
		wasSent := connection != nil && !failure.wasNotSent && failure.Reason != ReasonTooManyCalls
		if connection != nil && (!connection.takesCalls() || failure.isRestart()) {
			// A draining daemon answers nothing more on this connection.
			c.forget(connection)
		}
		// The same error may be that of several calls.
		copied := *failure
		pause, final := decisions.pause(&copied, wasSent, c.wasConnected(), rand.Float64())
		if final != nil {
			return nil, final
		}
		// Return the actual cause now: after the pause only a timeout would be left.
		if until, ok := ctx.Deadline(); ok && time.Until(until) <= pause {
			return nil, &copied
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// sleep waits. It returns the error of a context that has ended.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return contextError(ctx)
	}
}

func (c *Client) wasConnected() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.path != ""
}

// shared returns the connection that calls share, and opens one if there is none.
func (c *Client) shared(ctx context.Context) (*connection, error) {
	c.mutex.Lock()
	if c.isClosed {
		c.mutex.Unlock()
		return nil, errClientClosed()
	}
	if c.connection != nil {
		if c.connection.takesCalls() {
			defer c.mutex.Unlock()
			return c.connection, nil
		}
		c.forgetLocked(c.connection)
	}
	current := c.opening
	if current == nil {
		current = &opening{done: make(chan struct{})}
		c.opening = current
		go c.openShared(current)
	}
	c.mutex.Unlock()
	select {
	case <-current.done:
	case <-ctx.Done():
		return nil, contextError(ctx)
	}
	if current.err != nil {
		return nil, current.err
	}
	return current.connection, nil
}

func (c *Client) openShared(current *opening) {
	current.connection, current.err = c.open(nil, false)
	c.mutex.Lock()
	c.opening = nil
	if current.err == nil {
		c.connection = current.connection
		if c.isClosed {
			c.connection.close(errClosed())
		}
	}
	c.mutex.Unlock()
	close(current.done)
}

// open opens a connection and checks that its server is trusted.
func (c *Client) open(answer onRequest, follows bool) (*connection, *Error) {
	c.mutex.Lock()
	path, isClosed := c.path, c.isClosed
	c.mutex.Unlock()
	if isClosed {
		return nil, errClientClosed()
	}
	if path == "" {
		path = c.options.Socket
	}
	if path == "" {
		path = AutomaticSocket()
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	for pause := time.Millisecond; ; pause = minimum(pause*2, 100*time.Millisecond) {
		socket, err := dial(ctx, path, c.options.Trust)
		if err != nil {
			return nil, err
		}
		if socket != nil {
			c.mutex.Lock()
			c.path = path
			c.mutex.Unlock()
			return newConnection(socket, c.options, answer, follows), nil
		}
		if sleep(ctx, pause) != nil {
			return nil, errTimeout()
		}
	}
}

// forget uses a connection for no further calls. Calls in progress on it continue.
func (c *Client) forget(connection *connection) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.forgetLocked(connection)
}

func (c *Client) forgetLocked(connection *connection) {
	if c.connection != connection {
		return
	}
	c.connection = nil
	connection.retire()
	c.retired = stillOpen(append(c.retired, connection))
}

// stillOpen returns the connections that have not ended.
func stillOpen(all []*connection) []*connection {
	var found []*connection
	for _, one := range all {
		if !one.isClosed() {
			found = append(found, one)
		}
	}
	return found
}

// add remembers a part that ends with the client. It returns false when the client is closed.
func (c *Client) add(one part) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.isClosed {
		return false
	}
	c.parts[one] = struct{}{}
	return true
}

func (c *Client) remove(one part) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.parts, one)
}
