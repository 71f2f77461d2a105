// A host of MCP Apps by the SDK of the first generation: node apps.mjs '{"command", "args"}'
// What it learns of tools' views, as one JSON object on stdout.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const EXTENSION = 'io.modelcontextprotocol/ui';
const MIME = 'text/html;profile=mcp-app';
const task = JSON.parse(process.argv[2]);
const client = new Client(
  { name: 'test-apps', version: '1' },
  { capabilities: { extensions: { [EXTENSION]: { mimeTypes: [MIME] } } } });
await client.connect(new StdioClientTransport(task));
const { tools } = await client.listTools();
const uris = Object.fromEntries(tools.filter((tool) => tool._meta?.ui)
  .map((tool) => [tool.name, tool._meta.ui.resourceUri]));
const { contents } = await client.readResource({ uri: Object.values(uris)[0] });
await client.close();
console.log(JSON.stringify({
  uris,
  knows: client.getServerCapabilities().extensions?.[EXTENSION] !== undefined,
  mimeType: contents[0].mimeType,
  ui: contents[0]._meta.ui,
  whole: contents[0].text.startsWith('<!DOCTYPE html>'),
}));
process.exit(0);
