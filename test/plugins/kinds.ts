import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { assemble } from '../../src/plugins/host/fixtures/assemble.ts';
import { writePackage } from '../../src/plugins/package-archive.ts';
import { compilePlugin } from '../c-plugin.ts';
import { root } from '../program.ts';

/** What one plugin of each kind finds at `oldServices`. */
export const found = {
  powered_by: 'powered-by-disclosed',
  ssh_age: 'ssh-age-protocol-1',
  'http-trace': 'http-trace',
  'old-jetty': 'jetty-6',
  put_allowed: 'http-put-allowed',
  ssh_protocol_one: 'ssh-protocol-one',
};

export const poweredBy = `
interface Banner { host: string; port: number; protocol: 'tcp' | 'udp'; banner: string }
interface Data { stream(key: string): AsyncIterable<Banner>; append(key: string, item: object): Promise<void> }

export const Plugin = {
  name: 'powered_by', version: '1.4.0', description: 'Finds web servers that tell what runs behind them.',
  requires: ['banners'], provides: ['vulnerabilities', 'powered_by.products'],
  async execute(_: unknown, data: Data): Promise<void> {
    for await (const { host, port, protocol, banner } of data.stream('banners')) {
      const product = /^X-Powered-By: *([^\\r\\n]+)/im.exec(banner)?.[1];
      if (product === undefined) continue;
      await data.append('powered_by.products', { host, port, protocol, product });
      await data.append('vulnerabilities', {
        host, port, protocol, id: 'powered-by-disclosed', title: 'Server tells its software', severity: 'info',
        evidence: product, confidence: 1,
      });
    }
  },
};
`;

const putAllowed = `
export class Plugin {
  name() { return 'put_allowed'; }
  version() { return '2.1.0'; }
  description() { return 'Asks web servers for their methods.'; }
  requires() { return ['open_ports']; }
  provides() { return ['vulnerabilities']; }
  async execute(ctx, data) {
    for await (const { host, port, protocol } of data.stream('open_ports')) {
      const { connection } = await ctx.net.connect(host, port, { deadlineMs: 60000 });
      if (!connection) continue;
      await connection.write('OPTIONS / HTTP/1.0\\r\\n\\r\\n');
      const { bytes } = await connection.read({ until: '\\r\\n\\r\\n', idleMs: 30000 });
      await connection.close();
      const allowed = /^Allow: *(.*\\bPUT\\b.*)$/im.exec(String(bytes))?.[1];
      if (allowed) await data.append('vulnerabilities', {
        host, port, protocol, id: 'http-put-allowed', title: 'Clients may write files', severity: 'medium',
        evidence: allowed, confidence: 1,
      });
    }
  }
}
`;

const oldJetty = `
id: jetty-6
name: Jetty 6 has not been maintained since 2012
version: 1.0.0
type: evaluation
metadata: { severity: medium }
match: { logic: AND, rules: [{ field: http.server, operator: startsWith, value: "Jetty(6." }] }
output: { message: "The server is {{value}}", remediation: Update it. }
`;

export interface KindFiles {
  /** A bare file of each kind that is one; the WebAssembly module in a package that may use the network. */
  bare: string[];
  /** A package to install; its module is `put_allowed`. */
  archive: string;
}

/** Writes a plugin of each kind that has a file. */
export async function writeKinds(folder: string): Promise<KindFiles> {
  const [script, rules, trace, put] = [
    'powered_by.mts',
    'old-jetty.yaml',
    'http-trace.tar.gz',
    'put.tar.gz',
  ].map((name) => join(folder, name)) as [string, string, string, string];
  writeFileSync(script, poweredBy);
  writeFileSync(rules, oldJetty);
  const wasm = await assemble(readFileSync(join(root, 'sdk/wasm/http-trace.wat'), 'utf8'));
  const manifest = readFileSync(join(root, 'sdk/wasm/plugin.yaml'));
  writeFileSync(trace, await packed({ 'plugin.yaml': manifest, 'http-trace.wasm': wasm }));
  const own = 'name: put_allowed\nversion: 2.1.0\nkind: script\nentry: main.mjs\npermissions: [network]\n';
  writeFileSync(put, await packed({ 'plugin.yaml': own, 'main.mjs': putAllowed }));
  const native = compilePlugin(folder, join(root, 'sdk/c/example/ssh_age.c'));
  return { bare: [script, native, trace, rules], archive: put };
}

export async function packed(files: Record<string, string | Buffer>): Promise<Buffer> {
  return writePackage(new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)])));
}

/** The configuration entry of the Python plugin, and a graph that names it and the installed one. */
export function kindsConfig(endpoint: string): string {
  return `plugins: [{name: ssh_protocol_one, endpoint: "${endpoint}"}]\n`;
}

export const kindsGraph = `name: kinds
nodes:
  - {instance_id: ports, module_type: connect_scanner}
  - {instance_id: banners, module_type: banner_grabber, depends_on: [ports]}
  - {instance_id: http, module_type: http_parser, depends_on: [banners]}
  - {instance_id: ssh, module_type: ssh_parser, depends_on: [banners]}
  - {instance_id: products, module_type: fingerprint_coordinator, depends_on: [banners, http, ssh]}
  - {instance_id: put, module_type: put_allowed, depends_on: [ports]}
  - {instance_id: one, module_type: ssh_protocol_one, depends_on: [banners], config: {severity: high}}
  - {instance_id: report, module_type: json_reporter, depends_on: [products, put, one]}
`;

/** A web server that traces, allows PUT and tells its software. @returns it, listening */
export async function oldWebServer(host: string): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    response.setHeader('Server', 'Jetty(6.1.26)').setHeader('X-Powered-By', 'PHP/5.3.3');
    if (request.method === 'OPTIONS') response.setHeader('Allow', 'GET, PUT, TRACE');
    if (request.method !== 'TRACE') return void response.end('hello');
    const lines = request.rawHeaders.flatMap((name, index, all) =>
      index % 2 ? [] : [`${name}: ${all[index + 1]}`],
    );
    response.setHeader('Content-Type', 'message/http');
    response.end([`TRACE ${request.url} HTTP/${request.httpVersion}`, ...lines, '', ''].join('\\r\\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return { server, port: (server.address() as AddressInfo).port };
}
