import { describe, expect, it } from 'vitest';
import { parsePorts } from '../domain/port.ts';
import { portCatalog, serviceNameOf } from './ports.ts';
import { commonUdpPorts } from './requests/udp-payloads.ts';

const { ranked, services } = portCatalog;

describe('portCatalogue', () => {
  it('has known ports for both protocols', () => {
    const { tcp, udp } = parsePorts('[-1024],U:[-]', portCatalog);
    expect(tcp).toEqual(expect.arrayContaining([21, 22, 80, 443, 514]));
    expect(tcp.length).toBeLessThan(250);
    expect(udp).toEqual(expect.arrayContaining([...commonUdpPorts, 51_820]));
    expect(udp.length).toBeLessThan(150);
    expect(parsePorts('http*', portCatalog).tcp).toEqual([80, 443, 593, 8000, 8008, 8080, 8443]);
    expect(parsePorts('U:http*', portCatalog).udp).toEqual([443, 8443]);
  });

  it('ranks exactly 1000 distinct ports', () => {
    expect(ranked).toHaveLength(1000);
    expect(new Set(ranked).size).toBe(1000);
    expect(ranked.every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535)).toBe(true);
  });

  it('has what a scan of the common ports is expected to try', () => {
    const expected = [
      21, 22, 23, 25, 53, 80, 110, 111, 135, 139, 143, 389, 443, 445, 465, 587, 631, 993, 995, 1433, 1521,
      2049, 2375, 3306, 3389, 5432, 5900, 6379, 8080, 8443, 9200, 11211, 27017,
    ];
    const { tcp } = parsePorts('common', portCatalog);
    expect(tcp).toHaveLength(100);
    expect(expected.filter((port) => !tcp.includes(port))).toEqual([]);
  });

  it('starts with what is found most', () => {
    expect(parsePorts('top-10', portCatalog).tcp).toEqual([21, 22, 25, 53, 80, 135, 443, 445, 3389, 8080]);
  });

  it.each([
    ['ssh', 22],
    ['http', 80],
    ['https', 443],
    ['smtp', 25],
    ['submission', 587],
    ['smtps', 465],
    ['imap', 143],
    ['imaps', 993],
    ['pop3', 110],
    ['pop3s', 995],
    ['dns', 53],
    ['domain', 53],
    ['ftp', 21],
    ['ftps', 990],
    ['telnet', 23],
    ['mysql', 3306],
    ['postgresql', 5432],
    ['redis', 6379],
    ['mongodb', 27017],
    ['memcached', 11211],
    ['ldap', 389],
    ['ldaps', 636],
    ['rdp', 3389],
    ['ms-wbt-server', 3389],
    ['vnc', 5900],
    ['smb', 445],
    ['microsoft-ds', 445],
    ['snmp', 161],
    ['ntp', 123],
    ['sip', 5060],
    ['mqtt', 1883],
    ['amqp', 5672],
  ])('knows the service %s', (name, port) => {
    expect(services.get(name)).toContain(port);
    expect(parsePorts(name, portCatalog).tcp).toContain(port);
  });

  it('has well-formed, unambiguous names that no other word of the grammar hides', () => {
    expect(services.size).toBeGreaterThan(150);
    for (const [name, ports] of services) {
      expect(name).toMatch(/^[a-z][a-z0-9-]*$/);
      expect(name).not.toMatch(/^(all|common|top-.*)$/);
      expect(parsePorts(name, portCatalog).tcp).toEqual([...ports].sort((a, b) => a - b));
    }
  });
});

describe('serviceNameOf', () => {
  it('names the usual service by port and protocol', () => {
    expect(serviceNameOf(22, 'tcp')).toBe('ssh');
    expect(serviceNameOf(53, 'udp')).toBe('domain');
    expect(serviceNameOf(443, 'tcp')).toBe('https');
    expect(serviceNameOf(443, 'udp')).toBe('https');
    expect(serviceNameOf(514, 'tcp')).toBe('shell');
    expect(serviceNameOf(514, 'udp')).toBe('syslog');
    expect(serviceNameOf(465, 'tcp')).toBe('submissions');
    expect(serviceNameOf(22, 'udp')).toBeNull();
    expect(serviceNameOf(65_000, 'tcp')).toBeNull();
  });
});
