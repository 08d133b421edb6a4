// The driver of the Go client: commands as lines on standard input, outcomes as lines on standard output.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"packages.invalid/sdkd"
)

type command struct {
	ID        int
	Do        string
	Target    int
	Client    string
	Stream    string
	Socket    string
	Options   map[string]float64
	Method    string
	Params    map[string]any
	Deadline  *float64
	Instance  string
	Instances []string
	Key       string
	Value     any
	Since     string
	Mode      string
	Answer    struct{ Token string }
	Timeout   float64
}

// driver has the clients, events and delegates of the test.
type driver struct {
	mutex       sync.Mutex
	clients     map[string]*sdkd.Client
	events      map[string]*sdkd.Events
	statuses    map[string][][]any
	attachments map[string]*sdkd.Attachment
	cancels     map[int]context.CancelFunc
}

var output sync.Mutex

func say(members map[string]any) {
	line, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(line))
}

func failure(err error) map[string]any {
	var found *sdkd.Error
	if !errors.As(err, &found) {
		if errors.Is(err, context.Canceled) {
			return map[string]any{"reason": "cancelled by the caller"}
		}
		return map[string]any{"reason": fmt.Sprintf("%T: %v", err, err)}
	}
	members := map[string]any{
		"reason": found.Reason, "retryable": found.Retryable, "retry_after": nil, "instance": nil,
		"may_have_run": found.MayHaveRun, "code": nil, "message": found.Message,
		"unknown": errors.Is(err, sdkd.ReasonOutcomeUnknown),
	}
	if found.RetryAfter != 0 {
		members["retry_after"] = found.RetryAfter.Seconds()
	}
	if found.Instance != "" {
		members["instance"] = found.Instance
	}
	if found.Code != 0 {
		members["code"] = found.Code
	}
	return members
}

func duration(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}

func options(socket string, given map[string]float64) *sdkd.Options {
	options := &sdkd.Options{Socket: socket}
	for name, value := range given {
		switch name {
		case "retry":
			options.Retry = duration(value)
		case "rate_limit_patience":
			options.RateLimitPatience = duration(value)
		case "max_calls":
			options.MaxCalls = int(value)
		case "max_line":
			options.MaxLine = int(value)
		default:
			panic(name)
		}
	}
	return options
}

func answering(mode, token string) sdkd.Handler {
	return func(ctx context.Context, question *sdkd.DelegateQuestion) (sdkd.Answer, error) {
		say(map[string]any{"question": question})
		switch mode {
		case "deny":
			return nil, sdkd.ErrDenied
		case "fail":
			return nil, errors.New("this is a secret of the app")
		case "hang":
			<-ctx.Done()
			say(map[string]any{"cancelled": true})
			return nil, ctx.Err()
		case "pass":
			return nil, nil
		}
		return &sdkd.DelegateTokenAnswer{Token: sdkd.NewSecret(token)}, nil
	}
}

// token returns the members of a token; the secrets of the client's own type would be hidden.
func token(found *sdkd.Token) map[string]any {
	headers := map[string]string{}
	for name, value := range found.HTTP.Headers {
		headers[name] = value.Reveal()
	}
	return map[string]any{"tokenId": found.TokenID, "http": map[string]any{"headers": headers}}
}

func (d *driver) run(ctx context.Context, c *command) (any, error) {
	d.mutex.Lock()
	client, events, attachment := d.clients[c.Client], d.events[c.Stream], d.attachments[c.Stream]
	d.mutex.Unlock()
	switch c.Do {
	case "connect":
		client, err := sdkd.Connect(ctx, options(c.Socket, c.Options))
		if err != nil {
			return nil, err
		}
		d.mutex.Lock()
		d.clients[c.Client] = client
		d.mutex.Unlock()
		return nil, nil
	case "call":
		if c.Deadline != nil {
			limited, cancel := context.WithTimeout(ctx, duration(*c.Deadline))
			defer cancel()
			ctx = limited
		}
		var result any
		err := client.Call(ctx, c.Method, c.Params, &result)
		return result, err
	case "token":
		found, err := client.Token.Get(ctx, c.Instance, &sdkd.TokenGetOptions{MinTTL: 30 * time.Second, HTTP: true})
		if err != nil {
			return nil, err
		}
		return token(found), nil
	case "put":
		return nil, client.Storage.Put(ctx, c.Instance, c.Key, c.Value, nil)
	case "events":
		tell := func(status sdkd.ConnectionStatus) {
			told := []any{status.IsConnected, nil}
			var found *sdkd.Error
			if errors.As(status.Err, &found) {
				told[1] = found.Reason
			}
			d.mutex.Lock()
			defer d.mutex.Unlock()
			d.statuses[c.Stream] = append(d.statuses[c.Stream], told)
		}
		found := client.Follow(&sdkd.EventFilter{Instances: c.Instances, Since: c.Since, OnStatus: tell})
		d.mutex.Lock()
		d.events[c.Stream] = found
		d.mutex.Unlock()
		return nil, nil
	case "statuses":
		d.mutex.Lock()
		defer d.mutex.Unlock()
		return append(append([][]any{}, d.statuses[c.Stream]...), []any{events.Status().IsConnected}), nil
	case "take":
		if c.Deadline != nil {
			limited, cancel := context.WithTimeout(ctx, duration(*c.Deadline))
			defer cancel()
			ctx = limited
		}
		event, err := events.Next(ctx)
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) {
			return nil, nil
		}
		return event, err
	case "attach":
		found, err := client.Attach(ctx, c.Instances, answering(c.Mode, c.Answer.Token),
			&sdkd.DelegateOptions{Timeout: duration(c.Timeout)})
		if err != nil {
			return nil, err
		}
		d.mutex.Lock()
		d.attachments[c.Stream] = found
		d.mutex.Unlock()
		return nil, nil
	case "status":
		status, err := attachment.NextStatus(ctx)
		if err != nil {
			return nil, nil
		}
		found := map[string]any{"state": status.State, "error": nil}
		var reason *sdkd.Error
		if errors.As(status.Err, &reason) {
			found["error"] = reason.Reason
		}
		return found, nil
	case "detach":
		return nil, attachment.Detach(ctx)
	case "end":
		return nil, events.Close()
	case "close":
		return nil, client.Close()
	}
	panic(c.Do)
}

func (d *driver) take(ctx context.Context, c *command) {
	result, err := d.run(ctx, c)
	if err != nil {
		say(map[string]any{"id": c.ID, "error": failure(err)})
	} else {
		say(map[string]any{"id": c.ID, "result": result})
	}
}

func main() {
	d := &driver{
		clients: map[string]*sdkd.Client{}, events: map[string]*sdkd.Events{}, statuses: map[string][][]any{},
		attachments: map[string]*sdkd.Attachment{}, cancels: map[int]context.CancelFunc{},
	}
	say(map[string]any{"can": []string{"cancel", "log", "statuses"}})
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		found := &command{Client: "main"}
		if err := json.Unmarshal(line, found); err != nil {
			panic(err)
		}
		if found.Do == "cancel" {
			d.cancels[found.Target]()
			continue
		}
		ctx, cancel := context.WithCancel(context.Background())
		d.cancels[found.ID] = cancel
		go d.take(ctx, found)
	}
}
