// The parts of the JavaScript client that do no I/O, and the sockets that are trusted.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LANGUAGES, automaticSocket, connect, sentence, standardTrust, tenantSocket }
  from '../../../Packaging/clients/javascript/index.js';
import { Client } from '../../../Packaging/clients/javascript/lib/client.js';
import { OutcomeUnknown, SdkdError, badAnswer, closed, late, refusal }
  from '../../../Packaging/clients/javascript/lib/error.js';
import { Attempts, Schedule } from '../../../Packaging/clients/javascript/lib/retry.js';
import { socketTransport } from '../../../Packaging/clients/javascript/lib/socket.js';
import { TEXTS } from '../../../Packaging/clients/javascript/lib/sentences.js';
import { Lines, text } from '../../../Packaging/clients/javascript/lib/wire.js';

const all = (lines, ...pieces) => pieces.flatMap((piece) => [...lines.feed(Buffer.from(piece))]);

test('lines are split wherever the pieces end', () => {
  const bytes = Buffer.from('{"a":1}\n\r\n \n{"b":"ä"}\n[{}]\n');
  for (let cut = 0; cut < bytes.length; cut += 1) {
    const found = all(new Lines(100), bytes.subarray(0, cut), bytes.subarray(cut));
    assert.deepEqual(found, [{ a: 1 }, { b: 'ä' }, {}]);
  }
});

test('a long line is refused before it ends', () => {
  for (const pieces of [['x'.repeat(11)], ['x'.repeat(6), 'x'.repeat(5)]]) {
    assert.throws(() => all(new Lines(10), ...pieces), { reason: 'badAnswer' });
  }
});

test('what is no message is refused', () => {
  for (const line of ['{', '1', '[1]', 'NaN', Buffer.from([0xff]), '['.repeat(100_000)]) {
    assert.throws(() => all(new Lines(1 << 20), line, '\n'), { reason: 'badAnswer' });
  }
  for (const value of [1n, '\ud800', 'x\udfffx', { '\\\ud800': 1 }]) assert.throws(() => text({ params: value }), TypeError);
  for (const value of ['\u{1f600}', '\\ud800', '\\\\ud800']) assert.deepEqual(JSON.parse(text({ value })).value, value);
});

test('pauses double up to the longest and end at the limit', () => {
  const schedule = new Schedule(1);
  const pauses = [];
  for (let pause; (pause = schedule.next(1)) !== undefined; ) pauses.push(pause);
  assert.deepEqual(pauses.slice(0, 6), [0.01, 0.02, 0.04, 0.08, 0.16, 0.32]);
  assert.ok(Math.abs(pauses.reduce((sum, pause) => sum + pause) - 1) < 1e-9);
  assert.equal(new Schedule(1).next(0), 0.005);
});

const pause = (failure, isRead, { wasSent = true, wasConnected = true, patience = 0 } = {}) =>
  new Attempts('m', isRead, 5, patience).pause(failure, wasSent, wasConnected, 1);

test('only what surely did not run is sent again', () => {
  for (const isRead of [true, false]) {
    for (const reason of ['shuttingDown', 'tooManyInFlight']) {
      assert.ok(pause(new SdkdError(reason, '', { code: -32050 }), isRead) > 0);
    }
    assert.ok(pause(closed(), isRead, { wasSent: false }) > 0);
  }
  assert.ok(pause(closed(), true) > 0);
  for (const failure of [closed(), late(), badAnswer('')]) {
    assert.throws(() => pause(failure, false), (error) => error instanceof OutcomeUnknown && error.mayHaveRun);
  }
  for (const failure of [late(), badAnswer(''), new SdkdError('noDaemon', '')]) {
    assert.throws(() => pause(failure, true, { wasConnected: false }), (error) => error === failure && !error.mayHaveRun);
  }
});

test('reads wait for the rate limit as long as they may', () => {
  const limit = new SdkdError('rateLimit', '', { code: -32050, data: { retryAfter: 2, retryable: true } });
  const attempts = new Attempts('m', true, 5, 3);
  assert.equal(attempts.pause(limit, true, true, 1), 2);
  assert.throws(() => attempts.pause(limit, true, true, 1), { reason: 'rateLimit' });
  assert.throws(() => pause(limit, false, { patience: 5 }), { reason: 'rateLimit' });
});

test('errors of any shape are read', () => {
  const data = { reason: 'accessDenied', retryable: true, retryAfter: 1e9, instance: 'a', hints: ['x', 1] };
  const error = refusal({ code: -32001, message: 'No.', data });
  assert.deepEqual([error.reason, error.retryable, error.retryAfter], ['accessDenied', true, 86_400]);
  assert.deepEqual([error.instance, error.hints, error.message], ['a', ['x'], 'No.']);
  for (const odd of [null, 1, [], {}, { code: '1', message: '' }]) assert.equal(refusal(odd).reason, 'badAnswer');
  for (const odd of [null, 1, [1], { retryAfter: 'x', reason: 3 }, { retryAfter: -1 }]) {
    const found = refusal({ code: 1, message: '', data: odd });
    assert.deepEqual([found.reason, found.retryAfter, found.hints], ['unknown', undefined, []]);
  }
});

test('each sentence is in the language that is asked', () => {
  const texts = {
    en: 'Please sign in again.', 'de-AT': 'Bitte melden Sie sich noch einmal an.', FR: 'Veuillez vous connecter à nouveau.',
    es: 'Inicie sesión de nuevo, por favor.', 'ru_RU.UTF-8': 'Пожалуйста, выполните вход ещё раз.', tlh: 'Please sign in again.',
    '': 'Please sign in again.', constructor: 'Please sign in again.',
  };
  for (const [language, text] of Object.entries(texts)) assert.equal(sentence('reauthNeeded', language), text);
  assert.equal(new SdkdError('network', '').sentence('de'), sentence('network', 'de'));
  for (const reason of ['aReasonOfALaterDaemon', 'constructor']) assert.equal(sentence(reason), sentence('clientClosed'));
  for (const found of Object.values(TEXTS)) assert.deepEqual(Object.keys(found), LANGUAGES);
});

test('the socket is found', () => {
  Object.assign(process.env, { SDKD_SOCKET: '/x' });
  assert.equal(automaticSocket(), '/x');
  Object.assign(process.env, { SDKD_SOCKET: '', XDG_RUNTIME_DIR: '/nowhere' });
  assert.equal(automaticSocket(), '/run/sdkd/sdkd.sock');
  assert.equal(tenantSocket('acme_1'), '/run/sdkd-tenants/acme_1.sock');
  for (const name of ['', 'a/b', 'a\n', 'x'.repeat(27)]) assert.throws(() => tenantSocket(name), { reason: 'badLocation' });
});

test('options are checked', async () => {
  await assert.rejects(async () => connect({ deadline: -1 }), RangeError);
  await assert.rejects(async () => connect({ maxCalls: 0 }), RangeError);
  await assert.rejects(async () => connect({ timeout: 1 }), TypeError);
});

test('an aborted signal and a missing daemon do not end the process', () => {
  const program = `
    import { Client } from '${new URL('../../../Packaging/clients/javascript/lib/client.js', import.meta.url)}';
    import { socketTransport } from '${new URL('../../../Packaging/clients/javascript/lib/socket.js', import.meta.url)}';
    const client = new Client({ transport: socketTransport('/nowhere/s') });
    await client.daemon.info({ signal: AbortSignal.abort() }).catch((error) => console.log(error.name));
    const controller = new AbortController();
    const call = client.daemon.info({ signal: controller.signal });
    controller.abort();
    await call.catch((error) => console.log(error.name));
  `;
  const words = ['--input-type=module', '--eval', program];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  assert.deepEqual([status, stdout], [0, 'AbortError\nAbortError\n'], stderr);
});

test('a connection goes to the socket that was checked, also when a link changes meanwhile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sdkd-trust-'));
  const [good, bad, link] = ['good', 'bad', 'link'].map((name) => join(folder, name));
  const seen = { [good]: [], [bad]: [] };
  const servers = await Promise.all(
    [good, bad].map(async (path) => {
      const server = createServer((socket) => {
        socket.on('data', (data) => seen[path].push(String(data)));
        socket.on('error', () => {});
      });
      await new Promise((resolve) => server.listen(path, resolve));
      return server;
    }),
  );
  try {
    const changes = {
      // The link is changed after the check.
      link: () => (rmSync(link), symlinkSync(bad, link)),
      // The socket itself is replaced after the check.
      file: () => (renameSync(good, join(folder, 'former')), renameSync(bad, good)),
    };
    for (const [name, change] of Object.entries(changes)) {
      rmSync(link, { force: true });
      symlinkSync(good, link);
      let checked;
      const client = new Client({
        deadline: 1,
        transport: socketTransport(link, (path) => {
          const trusted = checked === undefined;
          checked ??= path;
          if (trusted) change();
          return trusted;
        }),
      });
      const call = client.call('storage.put', { instance: 'desk', key: 'k', value: `secret-${name}` });
      await assert.rejects(call);
      client.close();
      assert.equal(checked, good);
    }
    assert.ok(!seen[bad].join('').includes('secret'), `${seen[bad]}`);
    assert.ok(seen[good].join('').includes('secret-link'));
  } finally {
    for (const server of servers) server.close();
  }
});

test('events take their deadline as calls do, in an object, and as a number', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sdkd-take-'));
  const path = join(folder, 's');
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      for (const line of bytes.toString().split('\n').filter(Boolean)) {
        const { id } = JSON.parse(line);
        if (id) socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: { subscription: 's', cursor: 'c' } })}\n`);
      }
    });
  });
  await new Promise((resolve) => server.listen(path, resolve));
  const daemon = await connect({ socket: path });
  try {
    const events = daemon.events();
    for (const deadline of [0.05, { deadline: 0.05 }]) assert.equal(await events.take(deadline), undefined);
    for (const wrong of ['1', { deadline: '1' }]) await assert.rejects(events.take(wrong), TypeError);
    await events.close();
  } finally {
    await daemon.close();
    server.close();
    rmSync(folder, { recursive: true });
  }
});

test('a socket that others could have put there is not trusted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sdkd-trust-'));
  const path = join(folder, 'sub', 's');
  mkdirSync(join(folder, 'sub'));
  const server = createServer();
  await new Promise((resolve) => server.listen(path, resolve));
  try {
    assert.ok(standardTrust(path));
    for (const place of [join(folder, 'sub'), folder]) {
      chmodSync(place, 0o777);
      assert.ok(!standardTrust(path));
      await assert.rejects(connect({ socket: path }), { reason: 'untrustedServer' });
      chmodSync(place, 0o1777);
      assert.ok(standardTrust(path));
      chmodSync(place, 0o755);
    }
    symlinkSync(path, join(folder, 'link'));
    assert.ok(standardTrust(join(folder, 'link')));
    assert.ok(!standardTrust(folder) && !standardTrust(join(folder, 'nothing')));
    if (process.getuid() === 0) {
      chownSync(path, 65534, 65534);
      assert.ok(!standardTrust(path));
      chownSync(path, 0, 0);
      chownSync(folder, 65534, 65534);
      assert.ok(!standardTrust(path));
    }
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});
