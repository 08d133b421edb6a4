package sdkd

import (
	"fmt"
	"io"
)

const mask = "‹secret›"

// Secret is a text that must not be disclosed, such as a token.
//
// It prints as ‹secret› with every verb of fmt, in JSON and in other encodings, also within other values. Only Reveal
// returns the text. The client itself sends the text to the daemon.
type Secret struct {
	// Secrets can't be compared with ==, which would compare the pointers.
	_ [0]func()
	// A pointer: fmt reads fields that are not exported without asking their methods, and prints a nested pointer as a number.
	text *string
}

// NewSecret returns a secret with this text.
func NewSecret(text string) Secret {
	return Secret{text: &text}
}

// Reveal returns the text itself.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsEmpty reports whether the text is empty.
func (s Secret) IsEmpty() bool {
	return s.Reveal() == ""
}

// String returns ‹secret›.
func (s Secret) String() string {
	return mask
}

// GoString returns ‹secret›.
func (s Secret) GoString() string {
	return mask
}

// Format writes ‹secret›, whatever the verb.
func (s Secret) Format(state fmt.State, verb rune) {
	_, _ = io.WriteString(state, mask)
}

// MarshalText returns ‹secret›, so that JSON and other encodings hold that.
func (s Secret) MarshalText() ([]byte, error) {
	return []byte(mask), nil
}

// UnmarshalText reads the text.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}
