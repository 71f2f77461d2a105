// What every client library does with the server, and what came of it, as one JSON object on
// stdout. The libraries differ in how they connect and call; this does not.

const ABORT_MS = 150;
const TIMEOUT_MS = 300;
const SLOW = { ms: 20000, steps: 2000 };

// A library's error in words that are the same for all of them.
function nameOf(error) {
  if (error.name === 'AbortError' || /abort|user pressed stop/i.test(String(error.message))) {
    return 'aborted';
  }
  if (error.code === -32001 || error.code === 'REQUEST_TIMEOUT') return 'timeout';
  // Client 2.x gives the body of an HTTP 404 as text.
  const code = /"code":(-\d+)/.exec(error.message)?.[1] ?? error.code;
  return code === undefined ? `${error.name}: ${error.message}` : `error ${code}`;
}

async function outcome(promise) {
  try {
    const result = await promise;
    return result.isError ? `tool error: ${result.content[0].text.split(' ')[0]}` : 'done';
  } catch (error) {
    return nameOf(error);
  }
}

// Until no call of slow runs any more.
async function statsWhenIdle(call) {
  for (let i = 0; ; ++i) {
    const { structuredContent } = await call('stats', {});
    if (structuredContent.running === 0 || i === 100) return structuredContent;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// Against the fixture, whose tools are as slow as they are told to be.
async function fixtureSteps(client, call) {
  const progress = [];
  const worked = await call('slow', { ms: 400, steps: 4 }, {
    onprogress: (update) => progress.push(update.progress) });
  const stop = new AbortController();
  setTimeout(() => stop.abort('user pressed stop'), ABORT_MS);
  const began = Date.now();
  const aborted = await outcome(call('slow', SLOW, { signal: stop.signal }));
  const timedOut = await outcome(call('slow', SLOW, { timeout: TIMEOUT_MS }));
  const waitedMs = Date.now() - began;
  return {
    tools: (await client.listTools()).tools.map((tool) => tool.name).slice(0, 3),
    echo: (await call('echo', { text: 'Zürich' })).structuredContent,
    worked: worked.content[0].text,
    progressGrows: progress.length > 0 && progress.every((n, i) => i === 0 || n > progress[i - 1]),
    aborted,
    timedOut,
    inTime: waitedMs >= ABORT_MS + TIMEOUT_MS - 20 && waitedMs < 5000,
    stats: await statsWhenIdle(call),
    unknownTool: await outcome(call('no_such_tool', {})),
    badArguments: await outcome(call('slow', { ms: 'many' })),
    unknownArgument: await outcome(call('echo', { txt: 'x' })),
    unknownResource: await outcome(client.readResource({ uri: 'jarvis://no/such' })),
  };
}

// Against the program: the start of an analysis.
async function programSteps(client, call, trace) {
  const loaded = (await call('load_trace', { trace })).structuredContent;
  const ops = await call('ops_summary', { trace: loaded.trace, limit: 3 });
  const drawn = await call('ops_summary', { trace: loaded.trace, limit: 3, image: true });
  const image = drawn.content.find((block) => block.type === 'image');
  return {
    tools: (await client.listTools()).tools.map((tool) => tool.name),
    loaded: loaded.summary,
    ops: ops.structuredContent.rows,
    text: ops.content[0].text,
    images: ops.content.filter((block) => block.type === 'image').length,
    drawnText: drawn.content[0].text,
    image: [image?.mimeType, Buffer.from(image?.data ?? '', 'base64').toString('latin1', 1, 4)],
    noTrace: await outcome(call('load_trace', { trace: '/no/such/trace.json' })),
  };
}

// `call`: (tool, arguments, options) => result. `task`: the script's argument, parsed.
export async function report(client, call, task, version) {
  const steps = task.trace ? programSteps(client, call, task.trace) : fixtureSteps(client, call);
  const found = { server: client.getServerVersion()?.name, version, ...await steps };
  await client.close();
  console.log(JSON.stringify(found));
  process.exit(0);
}
