package sdkd

import "time"

// schedule is a schedule of pauses between attempts: each is twice the one before, up to the longest.
type schedule struct {
	pause, longest time.Duration
	// left is the sum of the pauses that are left.
	left      time.Duration
	isEndless bool
}

const firstPause = 10 * time.Millisecond

func retrySchedule(limit time.Duration) *schedule {
	return &schedule{pause: firstPause, longest: 500 * time.Millisecond, left: limit}
}

// reconnectSchedule returns the schedule for the lost connection of a subscription or a delegate, which never ends.
func reconnectSchedule() *schedule {
	return &schedule{pause: firstPause, longest: 2 * time.Second, isEndless: true}
}

// next returns the next pause, and false when the pauses would exceed the limit.
//
// The number random is from 0 to 1, so that clients that lost the same daemon don't reconnect at the same moment.
func (s *schedule) next(random float64) (time.Duration, bool) {
	pause := time.Duration(float64(minimum(s.pause, s.longest)) * (0.5 + 0.5*random))
	if !s.isEndless {
		if s.left <= 0 {
			return 0, false
		}
		pause = minimum(pause, s.left)
		s.left -= pause
	}
	s.pause = minimum(s.pause*2, s.longest)
	return pause, true
}

// attempts decides about one call: whether a failed attempt is repeated, and after which pause.
type attempts struct {
	method   string
	isRead   bool
	schedule *schedule
	patience time.Duration
}

// pause returns the pause before the next attempt, or the error with which the call ends.
//
// wasSent is whether the daemon may have received the call. wasConnected is whether a connection existed before: only
// then can a missing daemon be one that restarts.
func (a *attempts) pause(failure *Error, wasSent, wasConnected bool, random float64) (time.Duration, *Error) {
	again := false
	if failure.Code == 0 {
		if wasSent && !a.isRead && failure.Reason != ReasonNoDaemon {
			what := "The daemon closed the connection without an answer"
			if failure.Reason == ReasonTimeout {
				what = "The daemon has not answered in time"
			}
			return 0, errOutcomeUnknown(a.method, what, failure)
		}
		failure.MayHaveRun = false
		again = failure.Reason == ReasonConnectionClosed || failure.Reason == ReasonNoDaemon && wasConnected
	} else {
		// The daemon has not run the call to its end, and it is safe to send it again.
		again = failure.Reason == ReasonShuttingDown || failure.Reason == ReasonTooManyInFlight
		if failure.Reason == ReasonRateLimit && a.isRead {
			wait := time.Second
			if _, isGiven := failure.Data["retryAfter"]; isGiven {
				wait = failure.RetryAfter
			}
			if wait > a.patience {
				return 0, failure
			}
			a.patience -= wait
			return wait, nil
		}
	}
	if !again {
		return 0, failure
	}
	pause, ok := a.schedule.next(random)
	if !ok {
		return 0, failure
	}
	return pause, nil
}

func minimum(one, other time.Duration) time.Duration {
	if one < other {
		return one
	}
	return other
}
