package sdkd

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"
)

// Error is the reason why a call gave no result. Its text says what happened and what to do next.
//
// Use errors.As for its fields, and errors.Is to compare its reason: errors.Is(err, sdkd.ReasonReauthNeeded).
type Error struct {
	// Reason is the stable name to program against: the daemon's own reason, or one of this client.
	Reason Reason
	// Message says what happened and what to do next.
	Message string
	// Code is the error's code in JSON-RPC, and 0 for errors of this client.
	Code int
	// Retryable reports whether the same call may succeed later without any change.
	Retryable bool
	// RetryAfter is the time to wait before another attempt, if the daemon gives it; at most a day.
	RetryAfter time.Duration
	// Instance is the instance that the error is about.
	Instance string
	// Member is the path of the member that the error is about.
	Member string
	// Hints are possible causes.
	Hints []string
	// MayHaveRun reports whether a failed write may have been run. Only then can sending it again do it twice.
	MayHaveRun bool
	// Data is all that the daemon says about the error: httpStatus, vendorCode, reference and the like.
	Data map[string]any

	cause error
	// wasNotSent is whether the connection ended before the whole call was sent, so that it was not run.
	wasNotSent bool
}

// Error returns the message.
func (e *Error) Error() string {
	return e.Message
}

// Unwrap returns the cause, such as context.DeadlineExceeded.
func (e *Error) Unwrap() error {
	return e.cause
}

// Is reports whether target is the reason of the error.
func (e *Error) Is(target error) bool {
	reason, ok := target.(Reason)
	return ok && reason == e.Reason
}

// Sentence returns what to show to the person before the app, in the language of a tag such as "de" or "fr-CA".
func (e *Error) Sentence(language string) string {
	return e.Reason.Sentence(language)
}

// Error returns the reason, so that it can be the target of errors.Is.
func (r Reason) Error() string {
	return string(r)
}

// Sentence returns what to show to the person before the app after an error with this reason.
//
// The language is a tag such as "de", "fr-CA" or "ru_RU.UTF-8"; Languages lists what there is. In other languages the
// sentence is in English. Reasons of later daemons have a general sentence.
func (r Reason) Sentence(language string) string {
	name, ok := sentenceOfReason[r]
	if !ok {
		name = generalSentence
	}
	code := primaryTag(language)
	if text, ok := sentences[name][code]; ok {
		return text
	}
	return sentences[name]["en"]
}

// ErrDenied is returned by the handler of a delegate to refuse for good. The SDK's own consequence follows, such as a logout.
var ErrDenied = errors.New("the delegate denies the user")

const closedMessage = "The daemon closed the connection and has not come back in time; nothing was changed. Call again."

// own returns an error of the client itself.
func own(reason Reason, message string) *Error {
	err := &Error{Reason: reason, Message: message}
	switch reason {
	case ReasonNoDaemon, ReasonConnectionClosed, ReasonTimeout, ReasonTooManyCalls:
		err.Retryable = true
	}
	return err
}

func errClosed() *Error {
	return own(ReasonConnectionClosed, closedMessage)
}

func errNotSent() *Error {
	err := errClosed()
	err.wasNotSent = true
	return err
}

func errTimeout() *Error {
	err := own(ReasonTimeout, "The daemon has not answered in time.")
	err.cause = context.DeadlineExceeded
	return err
}

func errClientClosed() *Error {
	return own(ReasonClientClosed, "This client was closed; nothing was sent. Connect again.")
}

func errBadAnswer(cause string) *Error {
	err := own(ReasonBadAnswer, "The daemon's message can't be read: "+cause)
	err.MayHaveRun = true
	return err
}

func errSystem(message string, cause error) *Error {
	err := own(ReasonSystemError, message)
	err.cause = cause
	return err
}

func errOutcomeUnknown(method, what string, cause error) *Error {
	err := own(ReasonOutcomeUnknown, what+"; whether "+method+" was run is not known. Read the state, then decide.")
	err.MayHaveRun = true
	err.cause = cause
	return err
}

// refusal returns the daemon's error object as an error, and an object of another shape as badAnswer.
func refusal(text json.RawMessage) *Error {
	var found struct {
		Code    *int
		Message *string
		Data    json.RawMessage
	}
	if json.Unmarshal(text, &found) != nil || found.Code == nil || found.Message == nil {
		return errBadAnswer("an error without code and message.")
	}
	var data map[string]any
	if json.Unmarshal(found.Data, &data) != nil || data == nil {
		data = map[string]any{}
	}
	err := &Error{Reason: "unknown", Message: *found.Message, Code: *found.Code, Data: data}
	if reason, ok := data["reason"].(string); ok {
		err.Reason = Reason(reason)
	}
	err.Retryable, _ = data["retryable"].(bool)
	err.Instance, _ = data["instance"].(string)
	err.Member, _ = data["member"].(string)
	if after, ok := data["retryAfter"].(float64); ok && after >= 0 {
		err.RetryAfter = seconds(math.Min(after, 86_400))
	}
	hints, _ := data["hints"].([]any)
	for _, hint := range hints {
		if text, ok := hint.(string); ok {
			err.Hints = append(err.Hints, text)
		}
	}
	return err
}

// isRestart reports whether a restarting daemon can cause this error.
func (e *Error) isRestart() bool {
	if e.Code == 0 && (e.Reason == ReasonConnectionClosed || e.Reason == ReasonNoDaemon) {
		return true
	}
	return e.Reason == ReasonShuttingDown
}

// isPassing reports whether reconnecting can restore a subscription or delegate that was lost with this error.
func (e *Error) isPassing() bool {
	if e.Code == 0 {
		return e.isRestart() || e.Reason == ReasonTimeout || e.Reason == ReasonSystemError
	}
	// The daemon may notice the new connection before the end of the old one.
	return e.Retryable || e.Reason == ReasonTooManySubscriptions
}

func seconds(number float64) time.Duration {
	return time.Duration(number * float64(time.Second))
}
