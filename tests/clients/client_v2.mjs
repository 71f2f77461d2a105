// The client of the second generation: node client_v2.mjs
// '{"mode": "legacy"|"auto"|{"pin": VERSION}, "url"|"command"+"args", "trace"}'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { report } from './steps.mjs';

const task = JSON.parse(process.argv[2]);
const transport = task.url
  ? new StreamableHTTPClientTransport(new URL(task.url))
  : new StdioClientTransport({ command: task.command, args: task.args });
const client = new Client({ name: 'test-v2', version: '1' },
  { versionNegotiation: { mode: task.mode } });
await client.connect(transport);
await report(client, (name, given, options) => client.callTool(
  { name, arguments: given }, options), task, client.getNegotiatedProtocolVersion());
