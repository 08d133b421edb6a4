// Sourcegraph's jsonrpc2 as a client and delegate, with headers.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

type members map[string]interface{}

func main() {
	path, token := os.Args[1], os.Args[3]
	var instance members
	check(json.Unmarshal([]byte(os.Args[2]), &instance))
	events := make(chan string, 100)
	handle := func(ctx context.Context, _ *jsonrpc2.Conn, request *jsonrpc2.Request) (interface{}, error) {
		if request.Method != "events.event" {
			return members{"token": token}, nil
		}
		var params struct{ Event struct{ Type string } }
		check(json.Unmarshal(*request.Params, &params))
		events <- params.Event.Type
		return nil, nil
	}
	socket, err := net.Dial("unix", path)
	check(err)
	ctx := context.Background()
	stream := jsonrpc2.NewBufferedStream(socket, jsonrpc2.VSCodeObjectCodec{})
	connection := jsonrpc2.NewConn(ctx, stream, jsonrpc2.HandlerWithError(handle))

	said := members{}
	var info struct{ Name string }
	check(connection.Call(ctx, "daemon.info", members{}, &info))
	said["name"] = info.Name
	var none interface{}
	err = connection.Call(ctx, "token.get", members{"instance": "nobody"}, &none)
	said["code"] = err.(*jsonrpc2.Error).Code
	check(connection.Call(ctx, "events.subscribe", members{}, &none))
	check(connection.Call(ctx, "instance.create", instance, &none))
	said["event"] = <-events
	value := strings.Repeat("ä\n", 6000)
	var stored struct{ Value string }
	check(connection.Call(ctx, "storage.put", members{"instance": "desk", "key": "k", "value": value}, &none))
	check(connection.Call(ctx, "storage.get", members{"instance": "desk", "key": "k"}, &stored))
	said["stored"] = stored.Value == value
	check(connection.Call(ctx, "delegate.attach", members{"instances": []string{"desk"}}, &none))
	line, err := json.Marshal(said)
	check(err)
	fmt.Println(string(line))
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
