// Joins a page's message port to the background of the extension.
(() => {
  const api = globalThis.browser ?? globalThis.chrome;
  /** The most connections of a page. Each is a process. */
  const MOST = 16;
  if (globalThis.sdkdIsHere) return;
  globalThis.sdkdIsHere = true;
  let count = 0;

  addEventListener('message', ({ source, data, ports: [page] }) => {
    if (source !== window || data?.sdkd !== 'connect' || !page) return;
    page.postMessage({ sdkd: 'hello' });
    if (count >= MOST) {
      const message = `This page has ${MOST} connections already. Close clients that are not needed, or reload it.`;
      page.postMessage({ sdkd: 'refused', reason: 'tooManyCalls', message });
      return;
    }
    count += 1;
    let background;
    let isOver = false;
    const end = (message) => {
      if (isOver) return;
      isOver = true;
      count -= 1;
      page.postMessage({ sdkd: 'closed', message });
      background?.disconnect();
    };
    try {
      background = api.runtime.connect({ name: 'sdkd' });
    } catch {
      end('The extension of sdkd was updated. Reload the page.');
      return;
    }
    background.onMessage.addListener((message) => page.postMessage(message));
    background.onDisconnect.addListener(() => end('The connection to the extension has ended.'));
    page.onmessage = ({ data: message }) => (message?.sdkd ? end() : background.postMessage(message));
  });
})();
