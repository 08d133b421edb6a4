package sdkd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"
)

// lines splits a stream into lines of at most limit bytes.
type lines struct {
	reader *bufio.Reader
	limit  int
}

// next returns the next line that is not empty. Its error is an *Error for a line that is too long.
func (l *lines) next() ([]byte, error) {
	var line []byte
	for {
		if _, err := l.reader.Peek(1); err != nil {
			return nil, err
		}
		// Everything that has come: a line without an end is noticed as soon as it is too long.
		piece, _ := l.reader.Peek(l.reader.Buffered())
		end := bytes.IndexByte(piece, '\n')
		count := end + 1
		if end >= 0 {
			piece = piece[:end]
		} else {
			count = len(piece)
		}
		if len(line)+len(piece) > l.limit {
			return nil, errBadAnswer(fmt.Sprintf("a line has more than %d bytes.", l.limit))
		}
		line = append(line, piece...)
		_, _ = l.reader.Discard(count)
		if end >= 0 {
			if len(bytes.TrimSpace(line)) > 0 {
				return line, nil
			}
			line = nil
		}
	}
}

// message is a message of JSON-RPC. A member that is absent is nil.
type message map[string]json.RawMessage

// messages returns the messages of a line.
func messages(line []byte) ([]message, *Error) {
	if !utf8.Valid(line) {
		return nil, errBadAnswer("it is not UTF-8.")
	}
	line = bytes.TrimSpace(line)
	var found []message
	var err error
	if line[0] == '[' {
		err = json.Unmarshal(line, &found)
	} else {
		found = make([]message, 1)
		err = json.Unmarshal(line, &found[0])
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return nil, errBadAnswer("it is not a JSON text.")
	}
	for _, one := range found {
		if one == nil {
			err = errors.New("null")
		}
	}
	if err != nil {
		return nil, errBadAnswer("it is not a JSON-RPC message.")
	}
	return found, nil
}

// text returns a message as a line.
func text(members map[string]any) ([]byte, error) {
	members["jsonrpc"] = "2.0"
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(members); err != nil {
		return nil, err
	}
	if replaced.Match(buffer.Bytes()) {
		return nil, errors.New("sdkd: a text is not UTF-8, which JSON can't hold")
	}
	return buffer.Bytes(), nil
}

// replaced is how package json writes a byte that is not UTF-8. It writes a real U+FFFD as it is.
var replaced = regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*\\ufffd`)

// wirable is a value with secrets, which are revealed to the daemon only.
type wirable interface {
	wire() map[string]any
}

// revealed returns a value for the daemon: secrets are their texts. Everything else is encoded as usual.
func revealed(value any) any {
	switch value := value.(type) {
	case Secret:
		return value.Reveal()
	case wirable:
		if pointer := reflect.ValueOf(value); pointer.Kind() == reflect.Pointer && pointer.IsNil() {
			return nil
		}
		return revealed(value.wire())
	case map[string]any:
		found := make(map[string]any, len(value))
		for name, member := range value {
			found[name] = revealed(member)
		}
		return found
	case []any:
		found := make([]any, len(value))
		for index, element := range value {
			found[index] = revealed(element)
		}
		return found
	default:
		return value
	}
}

// primaryTag returns the language of a tag such as "de-AT" or "de_AT.UTF-8".
func primaryTag(tag string) string {
	if end := strings.IndexAny(tag, "-_.@"); end >= 0 {
		tag = tag[:end]
	}
	return strings.ToLower(tag)
}
