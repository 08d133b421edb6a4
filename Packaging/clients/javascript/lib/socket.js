// The transport of Node: the socket of a daemon, its path, and whether it is trusted.
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { SdkdError } from './error.js';
import { Lines } from './wire.js';

const SYSTEM = '/run/sdkd/sdkd.sock';
const TENANTS = '/run/sdkd-tenants';
const LONGEST_PATH = 107;
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

export function automaticSocket() {
  if (process.env.SDKD_SOCKET) return process.env.SDKD_SOCKET;
  return process.env.XDG_RUNTIME_DIR && existsSync(userSocket()) ? userSocket() : SYSTEM;
}

export const systemSocket = () => SYSTEM;

export function userSocket() {
  // systemd always creates this directory; su and cron leave the variable unset.
  return `${process.env.XDG_RUNTIME_DIR || `/run/user/${process.getuid()}`}/sdkd/sdkd.sock`;
}

export function tenantSocket(name) {
  if (!/^[A-Za-z0-9_-]{1,26}$/.test(name)) {
    const text = JSON.stringify(name);
    throw new SdkdError('badLocation', `${text} can't be a tenant: that is 1 to 26 letters, digits, - and _.`);
  }
  return `${TENANTS}/${name}.sock`;
}

/** The number of the user `sdkd`, if there is one. */
function daemonUid() {
  try {
    const line = readFileSync('/etc/passwd', 'utf8').split('\n').find((entry) => entry.startsWith('sdkd:'));
    return line && Number(line.split(':')[2]);
  } catch {
    return undefined;
  }
}

/**
 * Node can't ask the kernel who listens, so the files decide: the owner of the socket, and who could have put it where it
 * is. A socket of root outside of sdkd's directories is trusted by root alone, because a service of any user can be behind
 * it.
 *
 * `real` is a path without links.
 */
function isTrusted(real) {
  const own = process.geteuid();
  const trusted = new Set([0, own, daemonUid()]);
  const socket = lstatSync(real);
  if (!socket.isSocket()) return false;
  for (let folder = dirname(real); ; folder = dirname(folder)) {
    const { uid, mode } = lstatSync(folder);
    // In a sticky directory others can't replace a file that is not theirs.
    if (!trusted.has(uid) || (mode & WRITABLE_BY_OTHERS && !(mode & STICKY))) return false;
    if (folder === dirname(folder)) break;
  }
  // Only root can have created these, whatever the user behind them.
  const folder = dirname(real);
  if ((folder === dirname(SYSTEM) || folder === TENANTS) && lstatSync(folder).uid === 0) return true;
  return trusted.has(socket.uid) && (socket.uid !== 0 || own === 0);
}

export function standardTrust(path) {
  try {
    return isTrusted(realpathSync(path));
  } catch {
    return false;
  }
}

const isMissing = ({ code }) => code === 'ENOENT' || code === 'ENOTDIR';

/**
 * The path without links, the file there, and whether it is trusted. Only this path may be used afterwards: a link that led
 * to it can lead elsewhere by then. Throws `SdkdError` when it is missing, such as while the daemon restarts.
 */
function judge(path, trust) {
  try {
    const real = realpathSync(path);
    const { dev, ino } = lstatSync(real);
    return { real, file: `${dev}:${ino}`, isTrusted: trust === standardTrust ? isTrusted(real) : trust(real) };
  } catch (error) {
    if (isMissing(error)) throw noDaemon(path);
    throw new SdkdError('systemError', `The socket can't be checked: ${error.code ?? error.message}.`, { cause: error });
  }
}

/** Whether the file that was checked is still at its path, so that the connection is to what was checked. */
function isSame({ real, file }) {
  try {
    const { dev, ino } = lstatSync(real);
    return file === `${dev}:${ino}`;
  } catch {
    return false;
  }
}

const noDaemon = (path) =>
  new SdkdError('noDaemon', `No daemon answers on ${path}. Start it, or say where its socket is.`);

/**
 * Connects once. Returns a socket, or `undefined` to try again: the backlog is full, or the socket was just replaced. Throws
 * `SdkdError`.
 */
async function attempt(path, trust) {
  if (!path) throw new SdkdError('badLocation', 'The path of the socket is empty.');
  if (path.includes('\0') || Buffer.byteLength(path) > LONGEST_PATH) throw noDaemon(path);
  const checked = judge(path, trust);
  if (!checked.isTrusted) {
    throw new SdkdError(
      'untrustedServer',
      `${path} or a directory above it belongs to another user than root, sdkd and you, or others can change it; ` +
        'nothing was sent.',
    );
  }
  // A longer path would be cut, and lead elsewhere.
  if (Buffer.byteLength(checked.real) > LONGEST_PATH) {
    throw new SdkdError('badLocation', `The path of the socket without links has more than ${LONGEST_PATH} bytes.`);
  }
  return await new Promise((resolve, reject) => {
    const socket = connect({ path: checked.real });
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      if (isSame(checked)) return resolve(socket);
      // The socket was replaced meanwhile, perhaps by a daemon that started: it is checked anew.
      socket.on('error', () => {});
      socket.destroy();
      resolve(undefined);
    });
    socket.once('error', (error) => {
      if (error.code === 'EAGAIN' || error.code === 'EINTR') resolve(undefined);
      else if (isMissing(error) || error.code === 'ECONNREFUSED') reject(noDaemon(path));
      else if (error.code === 'EACCES' || error.code === 'EPERM') {
        reject(new SdkdError('notPermitted', `You may not connect to ${path}.`));
      } else reject(new SdkdError('systemError', `connect failed: ${error.code}.`, { cause: error }));
    });
  });
}

/** The channel of a connected socket, with a message a line. */
class SocketChannel {
  #socket;

  constructor(socket) {
    this.#socket = socket;
  }

  listen(receive, onEnd, maxLine) {
    const lines = new Lines(maxLine);
    this.#socket.unref();
    this.#socket.on('error', () => {}); // 'close' follows.
    this.#socket.on('data', (data) => receive(lines.feed(data)));
    this.#socket.once('close', onEnd);
  }

  get unsent() {
    return this.#socket.writableLength;
  }

  send(line, onUnsent) {
    if (!this.#socket.writable) return onUnsent?.();
    return this.#socket.write(line, (error) => error && onUnsent?.());
  }

  pause() {
    this.#socket.pause();
  }

  resume() {
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  hold(isNeeded) {
    if (isNeeded) this.#socket.ref();
    else this.#socket.unref();
  }

  close() {
    this.#socket.destroy();
  }
}

/** The transport over the socket at `location`, or where a daemon is found. It stays with the first daemon that it reached. */
export function socketTransport(location, trust = standardTrust) {
  let path;
  return {
    async open() {
      const chosen = path ?? location ?? automaticSocket();
      const socket = await attempt(chosen, trust);
      if (!socket) return undefined;
      path = chosen;
      return new SocketChannel(socket);
    },
  };
}
