import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import type { Wire } from '../lab/wire.ts';
import { ServerProcess } from '../program.ts';
import { canRun, openOf, recordOf, triesOf, twoHosts } from './two-hosts.ts';

describe('a rate that cannot be', () => {
  const home = new Home();
  const server = new ServerProcess();
  beforeAll(() => server.start());
  afterAll(async () => {
    await server.dispose();
    home.remove();
  });

  it.each(['0', '-1', '10000001'])('--rate %s ends with 2 and names the option', async (rate) => {
    const { code, stdout, stderr } = await home.run(['scan', '127.0.0.1', `--rate=${rate}`]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('--rate');
  });

  it('above scanner.max_rate is refused by a scan without a server too', async () => {
    const { code, stderr } = await home.run(['scan', '127.0.0.1', '--rate', '100001']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/rate.*1 to 100000/)]);
  });

  it.each([0, -1, 0.5, 100_001])('%d is refused by the API with 400, with the field', async (rate) => {
    const { status, body } = await server.request('/api/v1/scans', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ targets: ['127.0.0.1'], rate, options: { scan_type: 'syn' } }),
    });
    const { error } = body as { error: { code: string; details: { fields: { field: string }[] } } };
    expect([status, error.code]).toEqual([400, 'invalid_request']);
    expect(error.details.fields.map(({ field }) => field)).toEqual(['rate']);
  });
});

describe.skipIf(!canRun)('orders and rights, on a link', () => {
  let wire: Wire;
  beforeAll(async () => {
    wire = twoHosts();
    await wire.listen([8001, 8002]);
  });
  afterAll(() => wire?.down());

  function graph(options: string): string {
    const file = join(wire.folder, 'graph.yaml');
    const nodes = [
      `{instance_id: tcp, module_type: syn_scanner, config: {${options}}}`,
      '{instance_id: report, module_type: json_reporter, depends_on: [tcp]}',
    ];
    writeFileSync(file, `name: forced\nnodes:\n  - ${nodes.join('\n  - ')}\n`);
    return file;
  }

  it.each([
    ['interface: nosuch0', 'interface: no such interface: nosuch0'],
    ['source_ip: 10.99.0.9', 'source_ip: 10.99.0.9 is not an address of this machine'],
    ['source_ip: "fd99::9"', 'source_ip: fd99::9 is not an address of this machine'],
  ])('%s is an error that names the option, and nothing is sent', async (options, message) => {
    const run = await wire.scan([
      '10.82.1.0/24',
      '--dag',
      graph(options),
      '--no-discover',
      '--ports',
      '8001',
    ]);
    expect([run.exitCode, run.packets]).toEqual([7, []]);
    expect(run.stderr).toContain(message);
    const { status, warnings } = recordOf(run);
    expect([status, warnings.map((warning) => warning.message)]).toEqual([
      'failed',
      [`syn_scanner failed: ${message}`],
    ]);
  });

  it('an interface that leads nowhere else is a warning, and nothing is sent', async () => {
    const run = await wire.scan([
      '10.82.1.1',
      '--dag',
      graph('interface: lo'),
      '--no-discover',
      '--ports',
      '8001',
    ]);
    const { warnings, summary } = recordOf(run);
    expect(warnings.map(({ code, message }) => [code, message])).toEqual([
      ['not_tried', 'no route to 10.82.1.1 through lo; 1 port not tried'],
    ]);
    expect([summary.coverage.not_tried, triesOf(run.packets).size]).toEqual([1, 0]);
  });

  it('interface and source of this machine are followed', async () => {
    const options = 'interface: eth0, source_ip: 10.81.0.1';
    const run = await wire.scan([
      '10.82.1.1',
      '--dag',
      graph(options),
      '--no-discover',
      '--ports',
      '8001-8004',
    ]);
    expect(openOf(recordOf(run))).toEqual(['10.82.1.1 8001', '10.82.1.1 8002']);
  });

  it('without the right, a profile makes connections, says so and finds the same', async () => {
    wire.allowPing();
    const run = await wire.scan(['10.82.1.0/29', '--profile', 'quick', '--ports', '8001-8010'], {
      caps: false,
    });
    const record = recordOf(run);
    expect(record.warnings).toMatchObject([
      { code: 'syn_fallback', message: expect.stringContaining('connections') },
    ]);
    expect(openOf(record)).toHaveLength(6 * 2);
    expect(record.summary).toMatchObject({ live_hosts: 6, open_ports: 12 });
  });
});
