package sdkd_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"time"

	"packages.invalid/sdkd"
)

// A whole kiosk program: it shows who is signed in, and shows it again after each event.
func Example() {
	ctx := context.Background()
	client, err := sdkd.Connect(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	events := client.Follow(&sdkd.EventFilter{Instances: []string{"front-desk"}})
	for err = events.Start(ctx); err == nil; _, err = events.Next(ctx) {
		user, err := client.Instance.CurrentUser(ctx, "front-desk", nil)
		switch {
		case err != nil:
			log.Fatal(err)
		case user.Authenticated:
			fmt.Println(user.ExternalID)
		default:
			fmt.Println("please sign in")
		}
	}
	log.Fatal(err)
}

// A token is put on a request. It prints as ‹secret›.
func ExampleSecret() {
	token := sdkd.Token{
		Token: sdkd.NewSecret("eyJhbGciOiJIUzI1NiJ9"),
		HTTP:  &sdkd.TokenHTTP{Headers: map[string]sdkd.Secret{"Authorization": sdkd.NewSecret("Bearer eyJhbGciOiJIUzI1NiJ9")}},
	}
	request, _ := http.NewRequest(http.MethodGet, "https://example.com/", nil)
	for name, value := range token.HTTP.Headers {
		request.Header.Set(name, value.Reveal())
	}
	fmt.Println(token.Token, token.HTTP.Headers)
	// Output: ‹secret› map[Authorization:‹secret›]
}

// A delegate supplies tokens while its program is connected.
func ExampleClient_Attach() {
	ctx := context.Background()
	client, err := sdkd.Connect(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	answer := func(ctx context.Context, question *sdkd.DelegateQuestion) (sdkd.Answer, error) {
		if question.Question != sdkd.DelegateQuestionNameGetToken || question.User == nil {
			return nil, nil // The question goes to the next delegate or the token provider.
		}
		return &sdkd.DelegateTokenAnswer{Token: sdkd.NewSecret(tokenOf(question.User.ExternalID))}, nil
	}
	attachment, err := client.Attach(ctx, []string{"front-desk"}, answer, &sdkd.DelegateOptions{Timeout: 5 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	for status, err := attachment.NextStatus(ctx); err == nil; status, err = attachment.NextStatus(ctx) {
		fmt.Println(status.State)
	}
}

func tokenOf(user string) string {
	return user
}
