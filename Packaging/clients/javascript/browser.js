// The client of sdkd for a page. See browser.d.ts for the documentation.
import { Client } from './lib/client.js';
import { extension } from './lib/extension.js';

export const connect = async ({ transport = extension(), ...options } = {}) =>
  await new Client({ ...options, transport }).connected();

export { extension };
export { Denied, OutcomeUnknown, SdkdError, sentence } from './lib/error.js';
export { LANGUAGES } from './lib/sentences.js';
