// Package sdkd is a client of sdkd, the daemon that keeps users signed in to customer-support chat services.
//
// Connect gives a Client. Its methods have the names of the contract: messaging.loginUser is Client.Messaging.LoginUser.
// Before anything is sent, the client asks the kernel which user runs the daemon. Connections that are lost are reopened,
// Client.Follow continues after the last event, and Client.Attach answers the daemon's questions for a token.
//
// Every call takes a context. Its deadline is that of the call, retries included; without one it is two minutes. A
// context that is cancelled cancels the call at the daemon.
//
// Errors are *Error with a stable reason:
//
//	_, err := client.Token.Get(ctx, "front-desk", nil)
//	if errors.Is(err, sdkd.ReasonReauthNeeded) {
//		fmt.Println(sdkd.ReasonReauthNeeded.Sentence("de"))
//	}
//
// Tokens are of the type Secret, which never prints its text.
//
// The package has no dependencies outside of the standard library, and runs on Linux.
package sdkd
