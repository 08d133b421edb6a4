// How the package is loaded: by `require`, by `import`, and where there is no Node.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import * as imported from '../../../Packaging/clients/javascript/index.js';
import * as inPages from '../../../Packaging/clients/javascript/browser.js';

const FOLDER = new URL('../../../Packaging/clients/javascript/', import.meta.url);
const required = createRequire(import.meta.url)('../../../Packaging/clients/javascript/index.cjs');

/** The files that a file of the package loads, and the modules of Node among them. */
function loaded(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  if (name.startsWith('node:')) return found;
  const text = readFileSync(new URL(name, FOLDER), 'utf8');
  for (const [, source] of text.matchAll(/from '([^']*)'/g)) {
    loaded(source.startsWith('.') ? new URL(source, new URL(name, FOLDER)).href.slice(FOLDER.href.length) : source, found);
  }
  return found;
}

test('require and import give the same classes', () => {
  assert.deepEqual(Object.keys(required).sort(), Object.keys(imported).sort());
  for (const name of Object.keys(imported)) assert.equal(required[name], imported[name], name);
});

test('require works without the ability of newer Nodes to require modules', () => {
  const flags = process.allowedNodeEnvironmentFlags.has('--experimental-require-module') ? ['--no-experimental-require-module'] : [];
  const program = `const { connect } = require('${new URL('index.cjs', FOLDER).pathname}');
    connect({ socket: '/nowhere/s' }).catch((error) => console.log(error.reason));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, '--eval', program], { encoding: 'utf8' });
  assert.deepEqual([status, stdout], [0, 'noDaemon\n'], stderr);
});

test('a page loads nothing of Node', () => {
  const found = [...loaded('browser.js')];
  assert.ok(found.includes('lib/connection.js'), found);
  assert.deepEqual(found.filter((name) => name.startsWith('node:')), []);
  assert.ok([...loaded('lib/node.js')].includes('node:net'));
});

test('each entry of the package is there, and its files are packed', () => {
  const { exports, main, types, files } = JSON.parse(readFileSync(new URL('package.json', FOLDER), 'utf8'));
  const names = [main, types, ...Object.values(exports).flatMap((entry) => Object.values(entry))].flatMap((entry) =>
    typeof entry === 'string' ? [entry] : Object.values(entry),
  );
  for (const name of names) {
    readFileSync(new URL(name, FOLDER));
    assert.ok(files.some((pattern) => name === `./${pattern}` || (pattern[0] === '*' && name.endsWith(pattern.slice(1)))), name);
  }
});

/** Runs with a window whose extension answers as `answering` says. */
async function withWindow(answering, run) {
  const globals = {
    MessageChannel,
    location: { origin: 'https://kiosk.example' },
    window: { postMessage: (message, origin, [port]) => answering(port, message, origin) },
  };
  const former = Object.fromEntries(Object.keys(globals).map((name) => [name, globalThis[name]]));
  Object.assign(globalThis, globals);
  try {
    await run();
  } finally {
    Object.assign(globalThis, former);
  }
}

/** A host that answers the method `echo` with its params, and others with their number of events. */
function echoes(port) {
  port.on('message', ({ id, method, params, sdkd }) => {
    if (sdkd === 'close') return port.close();
    if (method === 'echo') return port.postMessage({ jsonrpc: '2.0', id, result: params });
    const cursor = 'c0';
    port.postMessage({ jsonrpc: '2.0', id, result: { subscription: 's', cursor } });
    for (let number = 1; number <= 3000; number += 1) {
      if (Number(params.since?.slice(1) ?? 0) >= number) continue;
      const event = { cursor: `c${number}`, type: 'userLoggedIn' };
      port.postMessage({ jsonrpc: '2.0', method: 'events.event', params: { subscription: 's', event } });
    }
  });
  port.postMessage({ sdkd: 'hello' });
  port.postMessage({ sdkd: 'open' });
}

test('a page calls over a message port', async () => {
  await withWindow(echoes, async () => {
    const daemon = await inPages.connect();
    assert.deepEqual(await daemon.call('echo', { text: 'ä' }), { text: 'ä' });
    daemon.close();
  });
});

test('a page that reads slowly gets each event once, and no queue grows without limit', async () => {
  let opened = 0;
  let onClose;
  const isClosed = new Promise((resolve) => (onClose = resolve));
  const answering = (port) => {
    opened += 1;
    port.on('message', ({ sdkd }) => sdkd === 'close' && onClose());
    echoes(port);
  };
  await withWindow(answering, async () => {
    const daemon = await inPages.connect({ maxEvents: 4 });
    const events = daemon.events();
    await events.start();
    await isClosed;
    for (let number = 1; number <= 3000; number += 1) assert.equal((await events.take(10)).cursor, `c${number}`);
    assert.ok(opened > 1, `${opened} connections`);
    daemon.close();
  });
});

test('a page without the extension, and one that is refused, get a clear error', async () => {
  await withWindow(() => {}, async () => {
    await assert.rejects(inPages.connect({ transport: inPages.extension({ patience: 0.05 }) }), {
      reason: 'noDaemon', message: /No extension of sdkd answers on https:\/\/kiosk.example\..*list the origin.*private window/,
    });
  });
  const refusing = (port) => port.postMessage({ sdkd: 'refused', reason: 'accessDenied', message: 'Not listed.' });
  await withWindow(refusing, async () => {
    await assert.rejects(inPages.connect(), { reason: 'accessDenied', message: 'Not listed.' });
  });
});
