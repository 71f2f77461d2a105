#!/usr/bin/env node
// A whole analysis with the official SDK: node analysis.mjs [--http URL] TRACE [OUTPUT_DIR]
//   --http URL  asks a running server (jarvis serve --http) instead of starting one
// Before the first time, in this folder: npm install @modelcontextprotocol/sdk@1
// JARVIS names the program, JARVIS_TOKEN the server's token. The tables go to OUTPUT_DIR (default:
// out/session).
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

// Longer than the SDK's own minute, and from the last sign of life, not from the start.
const PATIENCE = { timeout: 60_000, resetTimeoutOnProgress: true, maxTotalTimeout: 600_000 };

function connectTo(url, output) {
  if (!url) {
    return new StdioClientTransport({ command: process.env.JARVIS ?? 'jarvis',
      args: ['serve', '--profile', 'full', '--allow-root', '/', '--output-root', output] });
  }
  const token = process.env.JARVIS_TOKEN;
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}

// The structured answer of a tool.
async function call(client, name, given) {
  const onprogress = ({ message }) => process.stderr.isTTY && console.error(`... ${message ?? name}`);
  const result = await client.callTool({ name, arguments: given }, undefined,
    { ...PATIENCE, onprogress });
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
  return result.structuredContent;
}

const rowsOf = ({ columns, rows }) => rows.map(
  (row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
const say = (what, text) => console.log(`${what.padEnd(7)} ${text}`);

async function analyse(client, protocol, file, output) {
  const { name, version } = client.getServerVersion();
  say('server', `${name} ${version}, protocol ${protocol}`);
  const loaded = await call(client, 'load_trace', { trace: file });
  const { trace } = loaded;
  say('trace', loaded.summary);
  say('gpu', `${loaded.device ?? 'no name'}, steps: ${loaded.steps ?? 'none'}, `
    + `remarks on quality: ${loaded.total}`);
  say('time', (await call(client, 'gpu_timeline', { trace })).summary);
  const ops = await call(client, 'ops_summary', { trace, limit: 5 });
  say('ops', ops.summary);
  const [top] = rowsOf(ops);
  if (!top) throw new Error('there is no GPU work in this trace');
  say('top', `${top.op}, ${top.gpu_ms} ms in ${top.count} calls`);
  const chains = await call(client, 'parent_chain', { trace, row: top.row });
  say('called', chains.summary);
  const [first] = rowsOf(chains);
  say('from', `${first.module ?? first.ops} at ${(first.code ?? '?').split(' < ')[0]}`);
  if (top.category === 'GEMM') {
    say('roof', (await call(client, 'gemm_roofline', { trace, row: top.row })).summary);
  } else {
    say('roof', `${top.percent_of_roof ?? 'unknown'} % of the roof`);
  }
  const categories = await call(client, 'category_filter', { trace, output_dir: output });
  const report = await call(client, 'perf_report',
    { trace, output_dir: path.join(output, 'perf_report_csvs') });
  say('files', `${categories.shown} categories and ${report.files.length} tables in ${output}`);
}

const { values, positionals } = parseArgs({
  options: { http: { type: 'string' } }, allowPositionals: true });
if (positionals.length < 1 || positionals.length > 2) {
  console.error('usage: node analysis.mjs [--http URL] TRACE [OUTPUT_DIR]');
  process.exit(2);
}
const output = path.resolve(positionals[1] ?? 'out/session');
const transport = connectTo(values.http, output);
let protocol;
const told = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => { protocol = version; told?.(version); };
const client = new Client({ name: 'analysis.mjs', version: '1' });
try {
  await client.connect(transport);
  await analyse(client, protocol, path.resolve(positionals[0]), output);
  if (values.http) await transport.terminateSession();
} catch (error) {
  const status = error.code > 0 ? ` (HTTP status ${error.code})` : '';
  console.error(`analysis.mjs: ${error.message}${status}`);
  process.exitCode = 1;
} finally {
  await client.close();
}
