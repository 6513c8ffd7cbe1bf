import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import type { ScanOptions, ScanRequest } from '../../domain/scan.ts';
import { GraphLibrary } from '../../engine/graph/graph-library.ts';
import { Registry, registerModules } from '../../engine/registry.ts';
import { commonUdpPorts } from '../../knowledge/requests/udp-payloads.ts';
import { type ModuleCatalog, planScan } from './plan-scan.ts';
import { plannedPorts } from './planned-ports.ts';

let catalogue: ModuleCatalog;
const { config } = loadConfig({ env: { HOME: '/nonexistent' }, systemFile: '/nonexistent/portolan.yaml' });

beforeAll(async () => {
  const registry = new Registry();
  await registerModules(registry, fileURLToPath(new URL('../../modules', import.meta.url)));
  const profiles = fileURLToPath(new URL('../../../profiles', import.meta.url));
  catalogue = { registry, library: await GraphLibrary.load(profiles, 'builtin', registry) };
});

async function plan(
  profile: string,
  ports: string | null,
  options: ScanOptions = {},
  own: Partial<ScanRequest> = {},
) {
  const request = scanRequest({ targets: ['192.0.2.1'], profile, ports, options, ...own });
  const planned = await planScan(request, config, catalogue);
  const nodes = planned.nodes.filter(({ skipped }) => skipped === null);
  const node = (module: string) => nodes.find(({ definition }) => definition.name === module);
  const scanners = nodes.filter(({ definition }) => definition.name.endsWith('_scanner'));
  const { tcp, udp } = plannedPorts(planned);
  return { node, scanners: scanners.map(({ definition }) => definition.name), tcp: [...tcp], udp: [...udp] };
}

describe('the UDP ports of a scan', () => {
  it('are scanned in the place of TCP ports with scan_type udp', async () => {
    const planned = await plan('standard', '53,161-162', { scan_type: 'udp' });
    expect(planned.scanners).toEqual(['udp_scanner']);
    expect([planned.tcp, planned.udp]).toEqual([[], [53, 161, 162]]);
    const { node } = planned;
    expect(node('udp_scanner')?.dependsOn).toContain('icmp');
    for (const module of ['banner_grabber', 'asset_profiler']) {
      expect(node(module)?.dependsOn).toContain('udp');
      expect(node(module)?.dependsOn).not.toContain('connect');
    }
  });

  it('are the usual ones when none are named', async () => {
    const { tcp, udp } = await plan('standard', null, { scan_type: 'udp' });
    expect([tcp, udp]).toEqual([[], [...commonUdpPorts]]);
    expect((await plan('deep', null)).udp).toEqual([...commonUdpPorts]);
    expect((await plan('deep', null, { scan_type: 'udp' })).scanners).toEqual(['udp_scanner']);
  });

  it('are scanned beside TCP ports with U:', async () => {
    const beside = await plan('quick', '22,U:53,161');
    expect([beside.tcp, beside.udp]).toEqual([[22], [53, 161]]);
    expect(beside.scanners).toHaveLength(2);
    const named = await plan('deep', '22,U:53');
    expect([named.tcp, named.udp]).toEqual([[22], [53]]);
  });

  it('are those of any scanner whose protocol is udp', async () => {
    const graph = (nodes: string[]) =>
      ['name: own', 'nodes:', ...nodes.map((node) => `  - ${node}`)].join('\n');
    const udp = '{instance_id: dns, module_type: syn_scanner, config: {protocol: udp, ports: "53"}}';
    const tcp = '{instance_id: web, module_type: connect_scanner, config: {ports: "80"}}';
    const both = graph([udp, tcp]);
    const own = (text: string, ports: string | null, options: ScanOptions = {}) =>
      plan('standard', ports, options, { dag: 'own', graph: text });
    expect(await own(both, null)).toMatchObject({ tcp: [80], udp: [53] });
    expect(await own(both, '22,U:161')).toMatchObject({ tcp: [22], udp: [161] });
    expect(await own(both, '22')).toMatchObject({ tcp: [22], udp: [] });
    expect(await own(both, null, { scan_type: 'udp' })).toMatchObject({
      scanners: ['syn_scanner'],
      udp: [53],
    });
    expect(await own(both, null, { scan_type: 'connect' })).toMatchObject({ tcp: [80], udp: [53] });
    // No port of such a graph can be meant for TCP.
    const options = { exclude_ports: '162' };
    expect(await own(graph([udp]), '161-162', options)).toMatchObject({ tcp: [], udp: [161] });
  });

  it('are left out of a scan of TCP ports', async () => {
    const { scanners, udp } = await plan('deep', '22,80');
    expect(udp).toEqual([]);
    expect(scanners).not.toContain('udp_scanner');
    expect((await plan('standard', null)).udp).toEqual([]);
  });

  it('leave out what is excluded, in their own protocol', async () => {
    const both = await plan('quick', '22,53,U:53,161', { exclude_ports: '53,U:161' });
    expect([both.tcp, both.udp]).toEqual([[22], [53]]);
    const only = await plan('quick', '53,161', { scan_type: 'udp', exclude_ports: '161' });
    expect(only.udp).toEqual([53]);
  });
});
