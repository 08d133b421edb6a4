package sdkd

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand"
	"sync"
	"time"
)

// EventFilter names the events to deliver. All that is given must match.
type EventFilter struct {
	// Instances are the instances whose events are delivered.
	Instances []string
	// Labels are labels that the instances must have.
	Labels map[string]string
	// Types are the types of events.
	Types []EventType
	// Since is the cursor after which the events begin, instead of now.
	Since string
	// OnStatus is called with each change of the connection's status, such as to show that the daemon is away. It must not
	// wait for the events.
	OnStatus func(ConnectionStatus)
}

// ConnectionStatus is the status of the connection over which events arrive.
type ConnectionStatus struct {
	// IsConnected says whether the events are subscribed. Otherwise the client connects, for the first time or again.
	IsConnected bool
	// Err is the reason why the connection was lost or could not be opened. It is nil while it is open, and before the
	// first attempt.
	Err error
}

func (f *EventFilter) wire() map[string]any {
	params := map[string]any{}
	if f == nil {
		return params
	}
	if f.Instances != nil {
		params["instances"] = f.Instances
	}
	if f.Labels != nil {
		params["labels"] = f.Labels
	}
	if f.Types != nil {
		params["types"] = f.Types
	}
	return params
}

// Gap is the type of an event that says that others were missed: read the state again. Its data is a *GapData.
const Gap EventType = "gap"

// GapData is the data of a gap.
type GapData struct {
	// From is the cursor after which events were missed, if that is known.
	From string `json:"from,omitempty"`
}

// UnmarshalJSON reads an event. The data of a type that is not known is a json.RawMessage.
func (e *Event) UnmarshalJSON(text []byte) error {
	type plain Event
	found := struct {
		*plain
		Data json.RawMessage `json:"data"`
	}{plain: (*plain)(e)}
	if err := json.Unmarshal(text, &found); err != nil {
		return err
	}
	data := newEventData(e.Type)
	if data == nil || found.Data == nil {
		e.Data = found.Data
		return nil
	}
	e.Data = data
	return json.Unmarshal(found.Data, data)
}

// Events are the events as they happen, over a connection of their own.
//
// A lost connection is reopened, and the events continue after the last one taken, without repetition. Where the daemon
// no longer keeps an event, an event of the type Gap comes: read the state again before you take the next one. Each
// event has a cursor: give it as EventFilter.Since to continue there later.
type Events struct {
	client   *Client
	filters  map[string]any
	onStatus func(ConnectionStatus)
	// turn has a value while a goroutine waits for an event. The others wait for their turn.
	turn chan struct{}
	// closed is closed with the events.
	closed   chan struct{}
	schedule *schedule

	mutex      sync.Mutex
	cursor     string
	status     ConnectionStatus
	connection *connection
	// beginning is the subscription in progress. It outlives a wait that ends earlier; the next one continues it.
	beginning *beginning
	name      string
	isPaused  bool
	hasBegun  bool
	isClosed  bool
}

// beginning is an attempt to subscribe or to resume.
type beginning struct {
	done chan struct{}
	err  error
}

// Follow returns the events of a filter, or all with nil. The first wait for an event subscribes, unless Start did before.
// Close the events when they are no longer needed.
func (c *Client) Follow(filter *EventFilter) *Events {
	events := &Events{
		client: c, filters: filter.wire(), turn: make(chan struct{}, 1), closed: make(chan struct{}),
		schedule: reconnectSchedule(),
	}
	if filter != nil {
		events.cursor, events.onStatus = filter.Since, filter.OnStatus
	}
	if !c.add(events) {
		events.end()
	}
	return events
}

// Cursor returns the cursor of the last event taken. Before the first one: where the subscription began.
func (e *Events) Cursor() string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.cursor
}

// Status returns the status of the connection. A loss is noticed while a goroutine waits for an event.
func (e *Events) Status() ConnectionStatus {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.status
}

// Start subscribes now instead of with the first event. If you call it before you read the state, you miss nothing after
// that.
func (e *Events) Start(ctx context.Context) error {
	ctx, cancel := e.client.limited(ctx)
	defer cancel()
	_, err := e.take(ctx, true)
	if err != nil && errors.Is(err, ctx.Err()) {
		return contextError(ctx)
	}
	return err
}

// Next returns the next event. It waits as long as the context allows, and then returns the context's error; the next
// call continues. After Close it returns io.EOF. Any other error is an *Error, with which the events end: the daemon
// refuses the subscription, or was never reached.
func (e *Events) Next(ctx context.Context) (*Event, error) {
	return e.take(ctx, false)
}

// Close ends the events, also for a goroutine that waits for one. The error is always nil.
func (e *Events) Close() error {
	e.end()
	e.client.remove(e)
	return nil
}

func (e *Events) end() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if !e.isClosed {
		e.isClosed = true
		close(e.closed)
	}
	e.drop()
}

// take subscribes if necessary, and returns the next event, or nil if it only begins.
func (e *Events) take(ctx context.Context, onlyBegins bool) (*Event, error) {
	if err := e.wait(ctx); err != nil {
		return nil, err
	}
	defer func() { <-e.turn }()
	for {
		event, err := e.attempt(ctx, onlyBegins)
		if err == nil && (event != nil || onlyBegins) {
			e.schedule = reconnectSchedule()
			return event, nil
		}
		if err == nil {
			continue
		}
		if e.hasClosed() {
			return nil, io.EOF
		}
		var failure *Error
		if !errors.As(err, &failure) {
			return nil, err
		}
		pause, final := e.pause(failure)
		if final != nil {
			return nil, final
		}
		if err := e.rest(ctx, pause); err != nil {
			if onlyBegins && ctx.Err() != nil {
				return nil, failure
			}
			return nil, err
		}
	}
}

// wait waits for the turn of the caller.
func (e *Events) wait(ctx context.Context) error {
	select {
	case e.turn <- struct{}{}:
		// A context that has ended is no obstacle: calls that never wait make progress, too.
		return nil
	default:
	}
	select {
	case e.turn <- struct{}{}:
		return nil
	case <-e.closed:
		return io.EOF
	case <-ctx.Done():
		return ctx.Err()
	}
}

// rest waits before the next connection.
func (e *Events) rest(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-e.closed:
		return io.EOF
	}
}

func (e *Events) hasClosed() bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.isClosed
}

// attempt returns the next event; nil if it only begins, or if the next notification is of something else.
func (e *Events) attempt(ctx context.Context, onlyBegins bool) (*Event, error) {
	connection, err := e.begun(ctx)
	if err != nil || onlyBegins {
		return nil, err
	}
	found, err := connection.next(ctx)
	if err != nil {
		return nil, err
	}
	return e.event(found)
}

// begun subscribes or resumes if necessary.
func (e *Events) begun(ctx context.Context) (*connection, error) {
	e.mutex.Lock()
	if e.isClosed {
		e.mutex.Unlock()
		return nil, io.EOF
	}
	current := e.beginning
	if current == nil {
		if e.connection != nil && !e.isPaused {
			defer e.mutex.Unlock()
			return e.connection, nil
		}
		current = &beginning{done: make(chan struct{})}
		e.beginning = current
		go func() {
			current.err = e.begin()
			close(current.done)
		}()
	}
	e.mutex.Unlock()
	select {
	case <-current.done:
	default:
		select {
		case <-current.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.beginning = nil
	if current.err != nil {
		return nil, current.err
	}
	if e.connection == nil {
		return nil, io.EOF
	}
	return e.connection, nil
}

// begin subscribes if there is no subscription, and resumes after a gap.
func (e *Events) begin() error {
	ctx, cancel := e.client.background()
	defer cancel()
	err := e.subscribe(ctx)
	e.mutex.Lock()
	if err != nil {
		e.drop()
		e.mutex.Unlock()
		return err
	}
	e.isPaused = false
	e.mutex.Unlock()
	e.tell(ConnectionStatus{IsConnected: true})
	return nil
}

// tell tells a change. Further failures of a connection that is reopened are none.
func (e *Events) tell(status ConnectionStatus) {
	e.mutex.Lock()
	wasTold := e.status.Err != nil
	if status.IsConnected {
		wasTold = e.status.IsConnected
	}
	if wasTold || e.isClosed {
		e.mutex.Unlock()
		return
	}
	e.status = status
	e.mutex.Unlock()
	if e.onStatus != nil {
		e.onStatus(status)
	}
}

func (e *Events) subscribe(ctx context.Context) error {
	e.mutex.Lock()
	connection, cursor, name := e.connection, e.cursor, e.name
	e.mutex.Unlock()
	if connection != nil {
		_, err := connection.call(ctx, "events.resume", map[string]any{"subscription": name, "since": cursor})
		return err
	}
	connection, failure := e.client.open(nil, true)
	if failure != nil {
		return failure
	}
	e.mutex.Lock()
	e.connection = connection
	if e.isClosed {
		connection.close(errClosed())
	}
	e.mutex.Unlock()
	params := map[string]any{}
	for filter, value := range e.filters {
		params[filter] = value
	}
	if cursor != "" {
		params["since"] = cursor
	}
	text, err := connection.call(ctx, "events.subscribe", params)
	if err != nil {
		return err
	}
	var result struct {
		Subscription string
		Cursor       string
	}
	if json.Unmarshal(text, &result) != nil || result.Cursor == "" {
		return errBadAnswer("events.subscribe without a cursor.")
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.name = result.Subscription
	if e.cursor == "" {
		// Without this cursor, a connection lost before the first event would miss events.
		e.cursor = result.Cursor
	}
	e.hasBegun = true
	return nil
}

// event returns the event of a notification; nil if that is of something else.
func (e *Events) event(found notification) (*Event, error) {
	var params struct {
		Subscription string
		Event        json.RawMessage
		Resume       *string
		From         string
	}
	if json.Unmarshal(found.params, &params) != nil {
		return nil, nil
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if params.Subscription != e.name {
		return nil, nil
	}
	switch {
	case found.method == "events.event":
		event := &Event{}
		if err := json.Unmarshal(params.Event, event); err != nil || event.Cursor == "" {
			return nil, errBadAnswer("an event that is not one of the contract.")
		}
		e.cursor = event.Cursor
		return event, nil
	case found.method == "events.gap" && params.Resume != nil:
		e.cursor = *params.Resume
		e.isPaused = true
		return &Event{Type: Gap, Cursor: e.cursor, Data: &GapData{From: params.From}}, nil
	}
	return nil, nil
}

// pause returns the time to wait before the next connection, or the failure when it is final.
func (e *Events) pause(failure *Error) (time.Duration, error) {
	wasConnected := e.client.wasConnected()
	e.tell(ConnectionStatus{Err: failure})
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.drop()
	wasThere := e.hasBegun || failure.isRestart() && wasConnected
	if !wasThere || !failure.isPassing() {
		return 0, failure
	}
	pause, _ := e.schedule.next(rand.Float64())
	if failure.RetryAfter > pause {
		pause = failure.RetryAfter
	}
	return pause, nil
}

// drop closes the connection. The mutex is locked.
func (e *Events) drop() {
	if e.connection != nil {
		e.connection.close(errClosed())
	}
	e.connection = nil
}
