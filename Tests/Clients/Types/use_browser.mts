import { connect, extension, SdkdError, type Channel, type Transport } from 'sdkd/browser';
const own: Transport = { open: async (): Promise<Channel | undefined> => undefined };
const daemon = await connect({ transport: own, deadline: 3 });
const other = await connect({ transport: extension({ patience: 2 }) });
const state: string = (await daemon.instance.get('desk')).state;
console.log(state, other, SdkdError);
// @ts-expect-error
await connect({ socket: '/x' });
