import { createSocket } from 'node:dgram';
import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';
import { Listeners } from './listeners.ts';

const home = new Home();
const listeners = new Listeners();
/** No other test scans it. */
const own = '127.86.0.3';
let port = 0;
let connections = 0;
beforeAll(async () => {
  port = await listeners.serve((socket) => {
    connections += 1;
    socket.end();
  }, own);
});
afterAll(() => {
  listeners.close();
  home.remove();
});

const scanner = '{instance_id: sweep, module_type: connect_scanner}';

/** Each with the node and the field that are at fault. */
const nonsense: [what: string, nodes: string[], type: string, node: string, field: string, says: RegExp][] = [
  [
    'a cycle',
    [
      '{instance_id: sweep, module_type: connect_scanner, depends_on: [grab]}',
      '{instance_id: grab, module_type: banner_grabber, depends_on: [sweep]}',
    ],
    'cycle',
    'sweep',
    'depends_on',
    /sweep -> grab -> sweep/,
  ],
  [
    'a node that depends on itself',
    ['{instance_id: sweep, module_type: connect_scanner, depends_on: [sweep]}'],
    'cycle',
    'sweep',
    'depends_on',
    /sweep -> sweep/,
  ],
  [
    'an unknown module',
    ['{instance_id: sweep, module_type: conect_scanner}'],
    'module',
    'sweep',
    'module_type',
    /conect_scanner.*registered/,
  ],
  [
    'an unknown option',
    ['{instance_id: sweep, module_type: connect_scanner, config: {concurency: 5}}'],
    'option',
    'sweep',
    'config.concurency',
    /concurency/,
  ],
  [
    'a rate above scanner.max_rate',
    ['{instance_id: sweep, module_type: connect_scanner, config: {rate: 100001}}'],
    'option',
    'sweep',
    'config.rate',
    /at most 100000/,
  ],
  [
    'a missing dependency',
    [scanner, '{instance_id: grab, module_type: banner_grabber, depends_on: [sweeep]}'],
    'dependency',
    'grab',
    'depends_on',
    /"sweeep"/,
  ],
  [
    'a dependency that was forgotten',
    [scanner, '{instance_id: read, module_type: ssh_parser}'],
    'data_flow',
    'read',
    'depends_on',
    /requires "/,
  ],
  [
    'a duplicate instance_id',
    [scanner, '{instance_id: sweep, module_type: json_reporter, depends_on: [sweep]}'],
    'duplicate_id',
    'sweep',
    'instance_id',
    /used twice/,
  ],
  [
    'an option above its bound',
    ['{instance_id: sweep, module_type: connect_scanner, config: {concurrency: 1000000000}}'],
    'option',
    'sweep',
    'config.concurrency',
    /concurrency/,
  ],
  [
    'an option below its bound',
    ['{instance_id: sweep, module_type: connect_scanner, config: {concurrency: -1}}'],
    'option',
    'sweep',
    'config.concurrency',
    /concurrency/,
  ],
  [
    'an option of another type',
    ['{instance_id: sweep, module_type: connect_scanner, config: {timeout: soon}}'],
    'option',
    'sweep',
    'config.timeout',
    /timeout/,
  ],
];

const fileOf = (what: string, nodes: string[]): string => {
  const file = home.file(`${what.replaceAll(' ', '-')}.yaml`);
  writeFileSync(file, `name: nonsense\nnodes:\n${nodes.map((node) => `  - ${node}\n`).join('')}`);
  return file;
};

describe('DAG nonsense', () => {
  it.each(nonsense)('%s: dag validate names node and field', async (what, nodes, type, node, field, says) => {
    const ended = await home.run(['dag', 'validate', fileOf(what, nodes), '--json']);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 1, stderr: '' });
    const { valid, errors } = JSON.parse(ended.stdout);
    expect(valid).toBe(false);
    expect(errors).toContainEqual(
      expect.objectContaining({ type, node_id: node, field, message: expect.stringMatching(says) }),
    );
    for (const { line } of errors) expect(line).toBeGreaterThan(0);
    const { stdout } = await home.run(['dag', 'validate', fileOf(what, nodes)]);
    expect(stdout).toMatch(new RegExp(`:\\d+:\\d+: error: .*"${node}".*${field.replace('.', '\\.')}`));
  });

  it.each(nonsense)(
    '%s: a scan with it is refused and sends nothing',
    async (what, nodes, _type, node, field) => {
      const place = [own, '--ports', String(port), '--no-discover'];
      const ended = await home.run(['scan', ...place, '--dag', fileOf(what, nodes)]);
      expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({ code: 2 });
      expect(ended.stderr).toContain(`"${node}"`);
      expect(ended.stderr).toContain(field);
      expect(ended.stdout).toBe('');
      expect(connections).toBe(0);
    },
  );

  it('a server leaves such graphs out, says why, and refuses a submission that names one', async () => {
    const server = new InProcessServer();
    const folder = `${server.workspace}/config/dags`;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    nonsense.forEach(([, nodes], index) => {
      const text = `name: nonsense-${index}\nnodes:\n${nodes.map((node) => `  - ${node}\n`).join('')}`;
      writeFileSync(`${folder}/nonsense-${index}.yaml`, text);
    });
    try {
      await server.start();
      for (const [index, [, , , node, field]] of nonsense.entries()) {
        const name = `nonsense-${index}`;
        const line = new RegExp(`${name}.*${node}.*${field.replace('.', '\\.')}`);
        await expect.poll(() => server.log).toMatch(line);
        const target = { targets: [own], ports: String(port), options: { discover: false } };
        const answer = await server.request('/api/v1/scans', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ...target, dag: name }),
        });
        expect([name, answer.status]).toEqual([name, 400]);
        expect(JSON.stringify(answer.body)).toContain('"field":"dag"');
      }
      expect(JSON.stringify((await server.request('/api/v1/scans')).body)).toContain('"total":0');
    } finally {
      await server.dispose();
    }
    expect(connections).toBe(0);
  });

  it('the bound of the option rate follows scanner.max_rate', async () => {
    const file = fileOf('fast', ['{instance_id: sweep, module_type: syn_scanner, config: {rate: 200000}}']);
    const env = { SERVICE_SCANNER__MAX_RATE: '200000' };
    const [valid, shown, usual] = await Promise.all([
      home.run(['dag', 'validate', file], { env }),
      home.run(['module', 'show', 'syn_scanner', '--format', 'json'], { env }),
      home.run(['module', 'show', 'icmp_discovery', '--format', 'json']),
    ]);
    expect(valid).toMatchObject({ code: 0 });
    expect(JSON.parse(shown.stdout).config_schema.rate).toMatchObject({
      Min: 1,
      Max: 200_000,
      Default: 1000,
    });
    expect(JSON.parse(usual.stdout).config_schema.rate).toMatchObject({ Max: 100_000 });
  });

  it('a scanner of TCP ports with protocol udp finds UDP ports', async () => {
    const socket = createSocket('udp4');
    socket.on('message', (_bytes, { port, address }) => socket.send('hello', port, address));
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const open = socket.address().port;
    const sweep = `{instance_id: sweep, module_type: connect_scanner, config: {protocol: udp, ports: "1,${open}"}}`;
    const file = fileOf('udp', [sweep]);
    expect(await home.run(['dag', 'validate', file])).toMatchObject({ code: 0 });
    const options = ['--no-discover', '--format', 'json'];
    const { code, stdout } = await home.run(['scan', '127.0.0.1', '--dag', file, ...options]);
    socket.close();
    expect(code).toBe(0);
    const { results, summary } = JSON.parse(stdout);
    expect(results[0].ports).toMatchObject([{ port: open, protocol: 'udp', state: 'open' }]);
    expect(summary.coverage).toEqual({ planned: 2, open: 1, closed: 1, filtered: 0, not_tried: 0 });
  });

  it('the same port is reached with a graph that is good', async () => {
    const file = fileOf('good', [
      scanner,
      '{instance_id: out, module_type: json_reporter, depends_on: [sweep]}',
    ]);
    const place = [own, '--ports', String(port), '--no-discover'];
    const { code, stderr } = await home.run(['scan', ...place, '--dag', file]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(connections).toBeGreaterThan(0);
  });
});
