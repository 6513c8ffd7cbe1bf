import { describe, expect, it } from 'vitest';
import type { ServiceSummary } from '../../../domain/result.ts';
import { findingRow, portRow, reportOfRows } from '../../fixtures/report-of-rows.ts';

const service = (
  name: string,
  product: string | null = null,
  version: string | null = null,
): ServiceSummary => ({
  name,
  product,
  vendor: null,
  version,
  cpe: null,
  confidence: 1,
});

const ports = (names: readonly (string | null)[], host = '10.0.0.1') =>
  names.map((name, index) => portRow(host, index + 1, { service: name === null ? null : service(name) }));

describe('services of a report', () => {
  it('are counted by name, most ports first; ports without a name stand apart', async () => {
    const { services } = await reportOfRows(ports(['ssh', 'http', 'http', null, 'unknown', '__proto__']));
    expect(services.names).toEqual([
      { name: 'http', ports: 2 },
      { name: '__proto__', ports: 1 },
      { name: 'ssh', ports: 1 },
    ]);
    expect([services.openPorts, services.unrecognized, services.otherNames, services.otherPorts]).toEqual([
      6, 2, 0, 0,
    ]);
  });

  it('are those that responded: silence over UDP is no open port', async () => {
    const silent = portRow('10.0.0.1', 161, { protocol: 'udp', state: 'open|filtered' });
    const { services, summary } = await reportOfRows([...ports(['ssh', null]), silent]);
    expect([services.openPorts, services.unrecognized, summary.openPorts]).toEqual([2, 1, 2]);
  });

  it('beyond twelve are others, but never a single one', async () => {
    const names = Array.from({ length: 14 }, (_, index) => `service-${index}`);
    const { services } = await reportOfRows(ports([...names, ...names.slice(0, 12)]));
    expect([services.names.length, services.otherNames, services.otherPorts]).toEqual([12, 2, 2]);
    const thirteen = await reportOfRows(ports(names.slice(0, 13)));
    expect([thirteen.services.names.length, thirteen.services.otherNames]).toEqual([13, 0]);
  });

  it('of a flood of names keep their sums', async () => {
    const rows = ports(Array.from({ length: 5000 }, (_, index) => `service-${index}`));
    const { names, otherNames, otherPorts } = (await reportOfRows(rows)).services;
    expect([names.length, otherNames, otherPorts]).toEqual([12, 4988, 4988]);
  });
});

describe('products of a report', () => {
  it('have their versions, hosts and the findings on their ports', async () => {
    const rows = [
      portRow('10.0.0.1', 22, { service: service('ssh', 'OpenSSH', '9.2p1') }),
      findingRow('10.0.0.1', 22, 'a', { severity: 'high' }),
      findingRow('10.0.0.1', 22, 'b', { severity: 'low' }),
      portRow('10.0.0.1', 80, { service: service('http', 'nginx', '1.0') }),
      portRow('10.0.0.1', 2222, { service: service('ssh', 'OpenSSH', '9.2p1') }),
      findingRow('10.0.0.1', null, 'c'),
      portRow('10.0.0.2', 22, { service: service('ssh', 'OpenSSH') }),
      portRow('10.0.0.2', 80, { service: service('http', 'nginx', '1.0') }),
      portRow('10.0.0.3', 80, { service: service('http', 'nginx', '1.1') }),
    ];
    const { products, productsLeft } = (await reportOfRows(rows)).services;
    expect(productsLeft).toBe(0);
    expect(products).toEqual([
      {
        product: 'OpenSSH',
        hosts: 2,
        versions: [
          { version: '9.2p1', ports: 2 },
          { version: null, ports: 1 },
        ],
        versionsLeft: 0,
        hostsWithFindings: 1,
        severities: { critical: 0, high: 1, medium: 0, low: 1, info: 0 },
      },
      expect.objectContaining({ product: 'nginx', hosts: 3, hostsWithFindings: 0 }),
    ]);
  });

  it('and versions beyond the maximum are counted', async () => {
    const flood = Array.from({ length: 6000 }, (_, index) =>
      portRow('10.0.0.1', 1 + index, { service: service('http', `product-${index}`, '1.0') }),
    );
    const versions = Array.from({ length: 300 }, (_, index) =>
      portRow('10.0.0.2', 1 + index, { service: service('http', 'product-0', `1.${index}`) }),
    );
    const { products, productsLeft } = (await reportOfRows([...flood, ...versions])).services;
    expect([products.length, productsLeft]).toEqual([60, 5940]);
    expect([products[0]?.product, products[0]?.versions.length, products[0]?.hosts]).toEqual([
      'product-0',
      8,
      2,
    ]);
    expect(products[0]?.versionsLeft).toBe(292);
  });
});
