// Starts the host program for each connection of a page, and puts the content script into the pages of listed origins.
const api = globalThis.browser ?? globalThis.chrome;
const HOST = 'sdkd';
const SCRIPT = { id: 'sdkd', js: ['content.js'], runAt: 'document_start', persistAcrossSessions: false };

/** The origins that the administrator lists. */
async function origins() {
  try {
    const { origins = [] } = await api.storage.managed.get('origins');
    return origins;
  } catch {
    return []; // Firefox throws without a list.
  }
}

/** The pattern for the pages of an origin. It holds for every port: Firefox takes none, and `onConnect` compares the origin. */
function pattern(origin) {
  const { protocol, hostname } = new URL(origin);
  return `${protocol}//${hostname}/*`;
}

let registering = Promise.resolve();

async function register() {
  const matches = [...new Set((await origins()).map(pattern))];
  const [former] = await api.scripting.getRegisteredContentScripts({ ids: [SCRIPT.id] });
  // A background that was only asleep finds what it has registered.
  if (String(former?.matches ?? []) === String(matches)) return;
  if (former) await api.scripting.unregisterContentScripts({ ids: [SCRIPT.id] });
  if (matches.length === 0) return;
  await api.scripting.registerContentScripts([{ ...SCRIPT, matches }]);
  // Pages that were loaded before, such as the first one of a kiosk.
  for (const { id } of await api.tabs.query({ url: matches })) {
    await api.scripting.executeScript({ target: { tabId: id }, files: SCRIPT.js }).catch(() => {});
  }
}

const registerNext = () => (registering = registering.then(register).catch((error) => console.error(error)));

api.runtime.onConnect.addListener(async (page) => {
  let isGone = false;
  page.onDisconnect.addListener(() => (isGone = true));
  const refuse = (reason, message) => {
    if (!isGone) page.postMessage({ sdkd: 'refused', reason, message });
    page.disconnect();
  };
  // The browser vouches for the origin; nothing that the page says counts.
  const origin = page.sender.origin ?? new URL(page.sender.url).origin;
  if (!(await origins()).includes(origin)) {
    return refuse('accessDenied', `Pages of ${origin} may not use sdkd. The administrator lists origins in browser.json.`);
  }
  if (isGone) return undefined;
  const host = api.runtime.connectNative(HOST);
  host.onMessage.addListener((message) => isGone || page.postMessage(message));
  host.onDisconnect.addListener((port) => {
    const { message = 'it has ended' } = port.error ?? api.runtime.lastError ?? {};
    refuse('noDaemon', `The browser has no host program of sdkd: ${message}`);
  });
  page.onMessage.addListener((message) => host.postMessage(message));
  page.onDisconnect.addListener(() => host.disconnect());
  return host.postMessage({ sdkd: 'origin', origin });
});

api.storage.onChanged.addListener((_, area) => area === 'managed' && registerNext());
api.runtime.onInstalled.addListener(() => {}); // Wakes the background after an update, and so the line below runs.
api.runtime.onStartup.addListener(() => {}); // The same at the start of the browser.
registerNext();
