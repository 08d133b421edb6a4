package sdkd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"runtime/debug"
	"sync"
	"time"
)

// Answer is an answer of a delegate to a question: *DelegateTokenAnswer, *DelegateServiceAnswer or *DelegateGuestAnswer.
type Answer interface {
	wirable
	isAnswer()
}

// Handler answers a question of the daemon, or returns nil to pass it on.
//
// Each question has a goroutine of its own. The context ends when the answer is no longer needed. A handler that returns
// ErrDenied refuses for good. Any other error, and a panic, is logged and passes the question on; its text is not sent.
type Handler func(ctx context.Context, question *DelegateQuestion) (Answer, error)

// AttachmentState is the state of a delegate's attachment.
type AttachmentState string

const (
	// Attached is the state of a delegate that gets questions.
	Attached AttachmentState = "attached"
	// Detached is the state while a lost connection is reopened.
	Detached AttachmentState = "detached"
	// Ended is the state of a delegate that gets no more questions.
	Ended AttachmentState = "ended"
)

// Status is the status of a delegate's attachment.
type Status struct {
	// State is whether the delegate is attached.
	State AttachmentState
	// Err is the reason of the loss, or of the end; nil for a delegate that was detached on purpose.
	Err error
}

// DelegateOptions are the options of a delegate.
type DelegateOptions struct {
	// Timeout is the time for an answer, from 100 milliseconds to a minute; 10 seconds unless given.
	Timeout time.Duration
}

const unreadStatuses = 16

// Attachment is the attachment of a delegate. A lost connection is reopened until the delegate is detached.
type Attachment struct {
	client  *Client
	params  map[string]any
	handler Handler
	// ending is closed when the delegate is detached.
	ending chan struct{}

	mutex      sync.Mutex
	connection *connection
	status     Status
	// unread are the statuses that wait to be read, of which the latest are kept.
	unread   []Status
	changed  chan struct{}
	isEnding bool
}

// Attach attaches a delegate, which answers the instances' questions until it is detached. The handler may get a question
// before this returns. If nobody answers, the caller of the daemon gets ReasonProviderFailed.
func (c *Client) Attach(
	ctx context.Context, instances []string, handler Handler, options *DelegateOptions,
) (*Attachment, error) {
	params := map[string]any{"instances": instances}
	if options != nil && options.Timeout != 0 {
		params["timeout"] = options.Timeout.Seconds()
	}
	a := &Attachment{
		client: c, params: params, handler: handler, ending: make(chan struct{}), changed: make(chan struct{}, 1),
		status: Status{State: Detached},
	}
	if !c.add(a) {
		return nil, errClientClosed()
	}
	ctx, cancel := c.limited(ctx)
	defer cancel()
	if err := a.attach(ctx); err != nil {
		a.end()
		c.remove(a)
		return nil, err
	}
	go a.keep()
	return a, nil
}

// Status returns the current status.
func (a *Attachment) Status() Status {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.status
}

// NextStatus returns the next status: the first one, then each change. Of those that were not read the latest 16 are
// kept. After the state Ended it returns io.EOF.
func (a *Attachment) NextStatus(ctx context.Context) (Status, error) {
	for {
		a.mutex.Lock()
		if len(a.unread) > 0 {
			first := a.unread[0]
			a.unread = a.unread[1:]
			a.mutex.Unlock()
			return first, nil
		}
		isOver := a.status.State == Ended
		a.mutex.Unlock()
		if isOver {
			// Others who wait must learn it, too.
			a.wake()
			return Status{}, io.EOF
		}
		select {
		case <-a.changed:
		case <-ctx.Done():
			return Status{}, ctx.Err()
		}
	}
}

// Detach detaches the delegate: the daemon asks it no more and does not wait for its return.
//
// While the connection is lost, the daemon can't be told, and waits for the delegate up to delegate.grace. The error is
// that of the call to the daemon; the connection is closed all the same.
func (a *Attachment) Detach(ctx context.Context) error {
	ctx, cancel := a.client.limited(ctx)
	defer cancel()
	a.mutex.Lock()
	a.beginEnding()
	connection := a.connection
	a.mutex.Unlock()
	var err error
	if connection != nil && !connection.isClosed() {
		_, err = connection.call(ctx, "delegate.detach", map[string]any{})
	}
	a.end()
	a.client.remove(a)
	return err
}

// beginEnding stops the keeper. The mutex is locked.
func (a *Attachment) beginEnding() {
	if !a.isEnding {
		a.isEnding = true
		close(a.ending)
	}
}

// end closes the connection without a call.
func (a *Attachment) end() {
	a.mutex.Lock()
	a.beginEnding()
	connection := a.connection
	a.mutex.Unlock()
	if connection != nil {
		connection.close(errClosed())
	}
	a.tell(Status{State: Ended})
}

func (a *Attachment) hasEnded() bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.isEnding
}

func (a *Attachment) tell(status Status) {
	a.mutex.Lock()
	if a.status.State != Ended {
		a.status = status
		a.unread = append(a.unread, status)
		if len(a.unread) > unreadStatuses {
			a.unread = a.unread[1:]
		}
	}
	a.mutex.Unlock()
	a.wake()
}

func (a *Attachment) wake() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// Keeping it attached

func (a *Attachment) attach(ctx context.Context) error {
	connection, failure := a.client.open(a.answer, false)
	if failure != nil {
		return failure
	}
	// Set before the call: Detach and end must reach a connection that is being attached.
	a.mutex.Lock()
	a.connection = connection
	if a.isEnding {
		connection.close(errClosed())
	}
	a.mutex.Unlock()
	_, err := connection.call(ctx, "delegate.attach", a.params)
	if a.hasEnded() {
		// Detach may wait for its own call on this connection, and closes it then.
		return errClientClosed()
	}
	if err != nil {
		connection.close(errClosed())
		return err
	}
	a.tell(Status{State: Attached})
	return nil
}

func (a *Attachment) keep() {
	schedule := reconnectSchedule()
	for {
		begin := time.Now()
		a.mutex.Lock()
		connection := a.connection
		a.mutex.Unlock()
		<-connection.done
		// A connection that lasts longer than the longest pause shows a healthy daemon.
		if time.Since(begin) > schedule.longest {
			schedule = reconnectSchedule()
		}
		if a.hasEnded() {
			return
		}
		loss := connection.loss()
		a.tell(Status{Detached, loss})
		refusal := a.attachAgain(schedule, loss)
		if a.hasEnded() {
			return
		}
		if refusal != nil {
			a.client.remove(a)
			a.tell(Status{Ended, refusal})
			return
		}
	}
}

// attachAgain attaches again, with pauses. It returns the final refusal, if any.
func (a *Attachment) attachAgain(schedule *schedule, last *Error) error {
	for {
		pause, _ := schedule.next(rand.Float64())
		if last.RetryAfter > pause {
			pause = last.RetryAfter
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-a.ending:
			timer.Stop()
			return nil
		}
		ctx, cancel := a.client.background()
		err := a.attach(ctx)
		cancel()
		if err == nil {
			return nil
		}
		if !errors.As(err, &last) || !last.isPassing() {
			return err
		}
	}
}

// Questions

func (a *Attachment) answer(ctx context.Context, method string, params json.RawMessage) map[string]any {
	question := &DelegateQuestion{}
	if !questions[method] || json.Unmarshal(params, question) != nil {
		return unknownRequest(method)
	}
	a.mutex.Lock()
	// The app has detached it while it was being attached.
	passes := a.isEnding && a.status.State != Attached
	a.mutex.Unlock()
	pass := map[string]any{"result": map[string]any{"defer": true}}
	if passes {
		return pass
	}
	found, err := a.ask(ctx, question)
	if errors.Is(err, ErrDenied) {
		return failed(-32040, ReasonProviderDenied, "The delegate says no.")
	}
	var result map[string]any
	if err == nil {
		members := revealed(found)
		if members == nil {
			return pass
		}
		result = map[string]any{"result": members}
		_, err = text(result)
	}
	if err != nil {
		if ctx.Err() == nil {
			a.client.options.Log.Printf("sdkd: The delegate failed at a question of the daemon: %v", err)
		}
		// The error's text belongs to the app and is not sent.
		return failed(-32040, ReasonProviderFailed, "The delegate has no answer.")
	}
	return result
}

// ask calls the handler. A panic of the handler is an error, so that a question ends no program.
func (a *Attachment) ask(ctx context.Context, question *DelegateQuestion) (answer Answer, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return a.handler(ctx, question)
}
