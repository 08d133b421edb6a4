// Drives the client for Node: commands as lines on standard input, outcomes as lines on standard output.
import { createInterface } from 'node:readline';
import { Denied, OutcomeUnknown, SdkdError, connect } from '../../../Packaging/clients/javascript/index.js';

const clients = {};
const streams = {};
const controllers = {};
/** The statuses of the connections of events, by stream. */
const statuses = {};

const say = (members) => process.stdout.write(`${JSON.stringify(members)}\n`);

function failure(error) {
  const { reason, retryable, retryAfter = null, instance = null, mayHaveRun, code = null, message } = error;
  const unknown = error instanceof OutcomeUnknown;
  return { reason, retryable, retry_after: retryAfter, instance, may_have_run: mayHaveRun, code, unknown, message };
}

const answering = (mode, answer) => async (question, signal) => {
  say({ question });
  if (mode === 'deny') throw new Denied();
  if (mode === 'fail') throw new Error('this is a secret of the app');
  if (mode === 'hang') {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    say({ cancelled: true });
  }
  return mode === 'pass' ? undefined : answer;
};

const OPTIONS = { rate_limit_patience: 'rateLimitPatience', max_calls: 'maxCalls', max_line: 'maxLine' };

async function run({ do: command, client = 'main', stream, instances, instance, ...rest }, signal) {
  switch (command) {
    case 'connect': {
      const options = Object.entries(rest.options).map(([name, value]) => [OPTIONS[name] ?? name, value]);
      clients[client] = await connect({ socket: rest.socket, ...Object.fromEntries(options) });
      return undefined;
    }
    case 'call':
      return clients[client].call(rest.method, rest.params, { deadline: rest.deadline ?? undefined, signal });
    case 'token':
      return clients[client].token(instance, { minTTL: 30, http: true });
    case 'put':
      return void (await clients[client].storage.put(instance, rest.key, rest.value));
    case 'events': {
      const told = (statuses[stream] = []);
      const onStatus = ({ isConnected, error }) => {
        told.push([isConnected, error?.reason ?? null]);
        throw new Error('an error of the app');
      };
      const filter = { instances: instances ?? undefined, since: rest.since ?? undefined, onStatus };
      streams[stream] = clients[client].events(filter);
      return undefined;
    }
    case 'statuses':
      return [...statuses[stream], [streams[stream].status.isConnected]];
    case 'take':
      return streams[stream].take(rest.deadline ?? undefined);
    case 'attach': {
      const options = { timeout: rest.timeout ?? undefined };
      streams[stream] = await clients[client].attach(instances, answering(rest.mode, rest.answer), options);
      return undefined;
    }
    case 'status': {
      const { value } = await streams[stream].next();
      return value && { state: value.state, error: value.error?.reason ?? null };
    }
    case 'detach':
      return streams[stream].detach();
    case 'end':
      return streams[stream].close();
    case 'close':
      return clients[client].close();
    default:
      throw new Error(command);
  }
}

async function take(message) {
  const { id } = message;
  controllers[id] = new AbortController();
  try {
    say({ id, result: (await run(message, controllers[id].signal)) ?? null });
  } catch (error) {
    const isOurs = error instanceof SdkdError;
    if (!isOurs && error.name !== 'AbortError') throw error;
    say({ id, error: isOurs ? failure(error) : { reason: 'cancelled by the caller' } });
  }
}

say({ can: ['cancel', 'log', 'statuses'] });
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.do === 'cancel') controllers[message.target].abort();
  else take(message);
}
process.exit();
