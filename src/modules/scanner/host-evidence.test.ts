import { describe, expect, it } from 'vitest';
import type { Port, PortCounts } from '../../domain/host.ts';
import { HostEvidence, type PortSign } from './host-evidence.ts';

const silence: PortSign = { response: '', service: null, usual: null, short: false };
const says = (response: string, more: Partial<PortSign> = {}): PortSign => ({
  ...silence,
  response,
  ...more,
});

function port(number: number, reason = 'syn-ack'): Port {
  return { host: '192.0.2.1', port: number, protocol: 'tcp', state: 'open', reason };
}

/** A host whose open ports have shown these signs. */
function host(signs: readonly (PortSign | null)[], more: Partial<PortCounts> = {}, reason = 'syn-ack') {
  const evidence = new HostEvidence();
  for (const [number, sign] of signs.entries()) {
    evidence.seen += 1;
    evidence.begin();
    evidence.end(port(number + 1, reason), sign);
  }
  const counts = { open: signs.length, closed: 0, filtered: 0, not_tried: 0, all_ports_open: false };
  evidence.counts = { host: '192.0.2.1', protocol: 'tcp', ...counts, ...more };
  return evidence;
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const numbered = (count: number): PortSign[] =>
  Array.from({ length: count }, (_, at) => says(`greeting ${at}`));

describe('a host is', () => {
  it('no tarpit while its ports show signs of life, however many of those that were asked are open', () => {
    const greeting = says('SSH-2.0-OpenSSH_0.0p0', { service: 'ssh' });
    expect(host(times(70, greeting), { all_ports_open: true }).isTarpit).toBe(false);
    expect(host(numbered(500), { all_ports_open: true }).isTarpit).toBe(false);
    expect(host([...numbered(40), ...times(8, silence)]).isTarpit).toBe(false);
  });

  it('no tarpit with a few silent ports', () => {
    expect(host(times(15, silence)).isTarpit).toBe(false);
    expect(host([...numbered(3), ...times(20, silence)]).isTarpit).toBe(false);
    expect(host(times(40, silence), { closed: 60 }).isTarpit).toBe(false);
    expect(host(times(40, silence), { filtered: 60 }).isTarpit).toBe(false);
  });

  it('a tarpit if (nearly) all of its ports are open and silent', () => {
    expect(host(times(16, silence)).isTarpit).toBe(true);
    expect(host([...numbered(4), ...times(40, silence)]).isTarpit).toBe(true);
    expect(host(times(40, silence), { closed: 4 }).isTarpit).toBe(true);
  });

  it('no tarpit for silence that lack of time explains, or for ports that could not be reached', () => {
    expect(host(times(40, { ...silence, short: true })).isTarpit).toBe(false);
    expect(host(times(40, null)).isTarpit).toBe(false);
  });

  it('a tarpit if silent ports were accepted with window 0, unless a SYN proxy protects a few services', () => {
    const reason = 'syn-ack-zero-window';
    expect(host(times(3, silence), {}, reason).isTarpit).toBe(true);
    expect(host(times(20, silence), { closed: 980 }, reason).isTarpit).toBe(true);
    expect(host(times(2, silence), { closed: 998 }, reason).isTarpit).toBe(false);
    expect(host(numbered(3), {}, reason).isTarpit).toBe(false);
  });

  it('a tarpit where ports were left out', () => {
    const evidence = host(numbered(3));
    evidence.left = 1;
    expect(evidence.isTarpit).toBe(true);
  });

  it('what its sweep says until as many ports show signs of life', () => {
    const swept = { all_ports_open: true };
    expect(host(times(5, null), swept).isTarpit).toBe(true);
    expect(host([...numbered(50), ...times(60, silence)], swept).isTarpit).toBe(true);
    expect(host([...numbered(60), ...times(50, silence)], swept).isTarpit).toBe(false);
  });
});

describe('room for probes', () => {
  const roomAfter = (signs: readonly PortSign[]) => host(signs).hasRoom;

  it('ends after 64 silent ports, and each port with a sign of life makes some', () => {
    expect(roomAfter(times(63, silence))).toBe(true);
    expect(roomAfter(times(64, silence))).toBe(false);
    expect(roomAfter([...times(64, silence), ...numbered(1)])).toBe(true);
    expect(roomAfter([...times(65, silence), ...numbered(1)])).toBe(false);
    expect(roomAfter(numbered(5000))).toBe(true);
  });

  it('ends where time is too short for most ports, and those that are left out say that', () => {
    const late = host(times(64, { ...silence, short: true }));
    expect([late.hasRoom, late.whyLeft]).toEqual([false, 'timeout']);
    late.left = 1;
    expect(late.isTarpit).toBe(false);
    expect(host([...times(32, silence), ...times(32, { ...silence, short: true })]).whyLeft).toBe('tarpit');
    expect(host(times(64, { ...silence, short: true }), { all_ports_open: true }).whyLeft).toBe('tarpit');
  });

  it('counts probes that run', () => {
    const evidence = new HostEvidence();
    for (let running = 0; running < 64; running++) evidence.begin();
    expect([evidence.hasRoom, evidence.isIdle]).toEqual([false, false]);
    evidence.end(port(1), says('hello'));
    expect(evidence.hasRoom).toBe(true);
  });

  it('is made by the first bytes of a port, before its probes have ended', () => {
    const evidence = new HostEvidence();
    for (let running = 0; running < 64; running++) evidence.begin();
    evidence.noteFirst(port(1), says('hello'));
    evidence.noteFirst(port(1), says('hello again'));
    expect(evidence.hasRoom).toBe(true);
    evidence.begin();
    evidence.noteFirst(port(2), says('hello'));
    expect(evidence.hasRoom).toBe(false);
    evidence.end(port(1), says('hello'));
    evidence.end(port(2), says('hello'));
    expect([evidence.hasRoom, evidence.lifeless]).toEqual([true, 1]);
  });

  it('ends with the same unidentified bytes everywhere, but not with the greeting of one service', () => {
    expect(roomAfter(times(66, says('hello')))).toBe(false);
    expect(roomAfter(times(500, says('SSH-2.0-OpenSSH_0.0p0', { service: 'ssh' })))).toBe(true);
  });

  it('ends with the same bytes on the usual ports of many other services', () => {
    const page = (usual: string | null) => says('HTTP/0.0 000 Forbidden', { service: 'http', usual });
    const services = ['ssh', 'ftp', 'smtp', 'imap', 'pop3', 'mysql', 'redis', 'ldap'];
    expect(roomAfter([...services.map(page), ...times(100, page(null))])).toBe(false);
    expect(roomAfter([...services.slice(1).map(page), ...times(100, page(null))])).toBe(true);
    expect(roomAfter(times(200, page('http')))).toBe(true);
  });
});
