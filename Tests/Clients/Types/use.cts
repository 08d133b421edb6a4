import sdkd = require('sdkd');
import { SdkdError, type Event } from 'sdkd';
async function run(): Promise<void> {
  const daemon = await sdkd.connect({ socket: '/x' });
  const id: string = (await daemon.token('desk', { minTTL: 30 })).tokenId;
  const failure: SdkdError = new sdkd.SdkdError();
  const event: Event | undefined = undefined;
  console.log(id, failure.reason, event);
  // @ts-expect-error
  await daemon.token();
}
void run();
