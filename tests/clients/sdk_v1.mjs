// The SDK of the first generation: node sdk_v1.mjs '{"url"|"command"+"args", "trace"}'
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { report } from './steps.mjs';

const task = JSON.parse(process.argv[2]);
const transport = task.url
  ? new StreamableHTTPClientTransport(new URL(task.url))
  : new StdioClientTransport({ command: task.command, args: task.args });
let version = transport.protocolVersion;
transport.setProtocolVersion = ((original) => (agreed) => {
  version = agreed;
  original?.call(transport, agreed);
})(transport.setProtocolVersion);
const client = new Client({ name: 'test-v1', version: '1' });
await client.connect(transport);
await report(client, (name, given, options) => client.callTool(
  { name, arguments: given }, undefined, options), task, version);
