package sdkd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

const (
	systemPath  = "/run/sdkd/sdkd.sock"
	tenants     = "/run/sdkd-tenants"
	longestPath = 107
)

// Server is the process that listens on a socket, as the kernel recorded it when it began to listen.
type Server struct {
	// UID is the user of the process.
	UID int
	// PID is the process; 0 if it is outside of the caller's namespace.
	PID int
	// Path is the path of the socket.
	Path string
}

// AutomaticSocket returns the path in SDKD_SOCKET, else the user's socket if it exists, else the system's.
func AutomaticSocket() string {
	if path := os.Getenv("SDKD_SOCKET"); path != "" {
		return path
	}
	if os.Getenv("XDG_RUNTIME_DIR") != "" {
		if _, err := os.Stat(UserSocket()); err == nil {
			return UserSocket()
		}
	}
	return systemPath
}

// SystemSocket returns the path of the machine's daemon.
func SystemSocket() string {
	return systemPath
}

// UserSocket returns the path of the current user's daemon.
func UserSocket() string {
	folder := os.Getenv("XDG_RUNTIME_DIR")
	if folder == "" {
		// systemd always creates this directory; su and cron leave the variable unset.
		folder = fmt.Sprintf("/run/user/%d", os.Getuid())
	}
	return folder + "/sdkd/sdkd.sock"
}

var tenantName = regexp.MustCompile(`\A[A-Za-z0-9_-]{1,26}\z`)

// TenantSocket returns the path of a tenant's daemon.
func TenantSocket(name string) (string, error) {
	if !tenantName.MatchString(name) {
		message := fmt.Sprintf("%q can't be a tenant: that is 1 to 26 letters, digits, - and _.", name)
		return "", own(ReasonBadLocation, message)
	}
	return tenants + "/" + name + ".sock", nil
}

// StandardTrust trusts root, the caller's own user, the user sdkd, and every server on a tenant's socket.
//
// A tenant's daemon has a dynamic user, but only root can have created its socket. A listener of user 0 can be the
// system's service manager or belong to another pid namespace: it is trusted only where root alone can create sockets.
func StandardTrust(server Server) bool {
	if isRoots(server.Path, tenants) {
		return true
	}
	if server.UID == 0 {
		return server.PID > 1 || isRoots(server.Path, filepath.Dir(systemPath))
	}
	if server.UID == os.Geteuid() {
		return true
	}
	daemon, err := user.Lookup("sdkd")
	return err == nil && daemon.Uid == strconv.Itoa(server.UID)
}

// isRoots reports whether a path is a socket in a folder that only root can write.
func isRoots(path, folder string) bool {
	if parent, name, _ := cutLast(path, "/"); parent != folder || !strings.HasSuffix(name, ".sock") {
		return false
	}
	status, err := os.Lstat(folder)
	if err != nil || !status.IsDir() || status.Mode().Perm()&0o022 != 0 {
		return false
	}
	owner, ok := status.Sys().(*syscall.Stat_t)
	return ok && owner.Uid == 0
}

func cutLast(text, separator string) (before, after string, found bool) {
	if at := strings.LastIndex(text, separator); at >= 0 {
		return text[:at], text[at+len(separator):], true
	}
	return "", text, false
}

// dial connects once. It returns a connection whose server is trusted, or nil while the backlog is full.
func dial(ctx context.Context, path string, trust func(Server) bool) (*net.UnixConn, *Error) {
	if path == "" {
		return nil, own(ReasonBadLocation, "The path of the socket is empty.")
	}
	if strings.Contains(path, "\x00") || len(path) > longestPath {
		return nil, errNoDaemon(path)
	}
	address := path
	if address[0] == '@' {
		// Package net takes a leading @ for the abstract namespace, where any user can listen.
		address = "./" + address
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "unix", address)
	switch {
	case err == nil:
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
		return nil, nil
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ECONNREFUSED):
		return nil, errNoDaemon(path)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return nil, own(ReasonNotPermitted, fmt.Sprintf("You may not connect to %s.", path))
	case ctx.Err() != nil:
		return nil, errTimeout()
	default:
		return nil, errSystem(fmt.Sprintf("connect failed: %v.", err), err)
	}
	found := connection.(*net.UnixConn)
	credentials, err := peer(found)
	if err != nil {
		_ = found.Close()
		return nil, errSystem(fmt.Sprintf("The user who listens on the socket can't be read: %v.", err), err)
	}
	server := Server{UID: int(credentials.Uid), PID: int(credentials.Pid), Path: path}
	if trust(server) {
		return found, nil
	}
	_ = found.Close()
	if server.UID == 0 {
		return nil, own(ReasonUntrustedServer, "The system's service manager listens on this socket, which is not in sdkd's "+
			"directories below /run; who answers is not known, so nothing was sent.")
	}
	return nil, own(ReasonUntrustedServer, fmt.Sprintf(
		"The socket belongs to uid %d, which is neither root nor sdkd nor you; nothing was sent.", server.UID))
}

// peer returns the credentials that the kernel recorded when the server began to listen.
func peer(connection *net.UnixConn) (*syscall.Ucred, error) {
	raw, err := connection.SyscallConn()
	if err != nil {
		return nil, err
	}
	var credentials *syscall.Ucred
	var failure error
	err = raw.Control(func(descriptor uintptr) {
		credentials, failure = syscall.GetsockoptUcred(int(descriptor), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err == nil {
		err = failure
	}
	return credentials, err
}

func errNoDaemon(path string) *Error {
	return own(ReasonNoDaemon, fmt.Sprintf("No daemon answers on %s. Start it, or say where its socket is.", path))
}
