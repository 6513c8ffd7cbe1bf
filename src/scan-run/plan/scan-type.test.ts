import { expect, it } from 'vitest';
import { loadGraph } from '../../engine/graph/graph.ts';
import { withScanType } from './scan-type.ts';

const { graph } = loadGraph(
  `nodes:
  - {id: icmp, module: icmp_discovery}
  - {id: knock, module: tcp_probe_discovery}
  - {id: tcp, module: syn_scanner, depends_on: [icmp], config: {ports: "22", interface: eth0, host_rate: 100}}
  - {id: more, module: connect_scanner, depends_on: [icmp], config: {ports: "80"}}
`,
  'test',
);
const scanners = (type?: 'syn' | 'connect' | 'auto' | 'udp') =>
  withScanType(graph, { options: type ? { scan_type: type } : {} })
    .nodes.slice(2)
    .map(({ moduleType, config }) => [moduleType, config]);

it('keeps the scanners of a graph unless the request names one', () => {
  const asWritten = [
    ['syn_scanner', { ports: '22', interface: 'eth0', host_rate: 100 }],
    ['connect_scanner', { ports: '80' }],
  ];
  expect([scanners(), scanners('auto'), scanners('udp')]).toEqual([asWritten, asWritten, asWritten]);
});

it('connect never sends raw packets, and takes no option that only they have', () => {
  expect(scanners('connect')).toEqual([
    ['connect_scanner', { ports: '22' }],
    ['connect_scanner', { ports: '80' }],
  ]);
});

it('syn sends nothing else: the node fails where they are not allowed', () => {
  expect(scanners('syn')).toEqual([
    ['syn_scanner', { ports: '22', interface: 'eth0', host_rate: 100, fallback: false }],
    ['syn_scanner', { ports: '80', fallback: false }],
  ]);
});

it('hosts are looked for in the same way', () => {
  const method = (type: 'syn' | 'connect' | 'auto') =>
    withScanType(graph, { options: { scan_type: type } }).nodes[1]?.config['method'];
  expect([method('syn'), method('connect'), method('auto')]).toEqual(['syn', 'connect', undefined]);
});
