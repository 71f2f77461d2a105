// Talks with the host that shows this page beside a conversation: JSON-RPC over postMessage, as the
// MCP Apps extension (io.modelcontextprotocol/ui, 2026-01-26) has it.
const bridge = (() => {
  const handlers = new Map();
  const waiting = new Map();
  let last = 0;
  const send = (message) => window.parent.postMessage({jsonrpc: "2.0", ...message}, "*");

  const answer = (message) => {
    const {resolve, reject} = waiting.get(message.id) ?? {};
    waiting.delete(message.id);
    if (message.error) reject?.(new Error(message.error.message ?? "the host refused"));
    else resolve?.(message.result);
  };
  window.addEventListener("message", (event) => {
    const message = event.data;
    if (event.source !== window.parent || message?.jsonrpc !== "2.0") return;
    if (message.method === undefined) return answer(message);
    handlers.get(message.method)?.(message.params ?? {});
    if (message.id !== undefined) send({id: message.id, result: {}});
  });

  return {
    on: (method, handler) => handlers.set(method, handler),
    notify: (method, params = {}) => send({method, params}),
    request: (method, params) => new Promise((resolve, reject) => {
      waiting.set(++last, {resolve, reject});
      send({id: last, method, params});
    }),
  };
})();
