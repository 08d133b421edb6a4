import { connect, sentence, SdkdError, OutcomeUnknown, Denied, type Event } from 'sdkd';
const daemon = await connect({ socket: '/x', deadline: 3 });
const token = await daemon.token('desk', { minTTL: 30, http: true, deadline: 2 });
const id: string = token.tokenId;
const t2 = await daemon.token.refresh('desk');
const value: unknown = (await daemon.storage('desk', 'draft')).value;
await daemon.storage.put('desk', 'draft', { a: 1 });
for await (const item of daemon.events({ instances: ['desk'], types: ['userLoggedIn'] })) {
  if (item.type === 'gap') { const c: string = item.cursor; continue; }
  const event: Event = item;
  console.log(event.instance);
}
const a = await daemon.attach(['desk'], async (question, signal) => {
  if (!question.user?.externalId) return undefined;
  if (signal.aborted) throw new Denied();
  return { token: question.user.externalId };
}, { timeout: 5 });
for await (const s of a) console.log(s.state, s.error?.reason);
try { await daemon.messaging.loginUser('desk', 'jwt'); } catch (error) {
  if (error instanceof OutcomeUnknown) throw error;
  if (error instanceof SdkdError) console.log(error.reason, error.sentence('de'), sentence(error.reason), error.retryAfter ?? 0, id, t2, value);
}
const shown = daemon.events({ onStatus: ({ isConnected, error }) => console.log(isConnected, error?.reason) });
const isHere: boolean = shown.status.isConnected;
// @ts-expect-error
daemon.events({ onStatus: 3, since: String(isHere) });
// @ts-expect-error
await daemon.token();
// @ts-expect-error
daemon.events({ types: ['nothing'] });
