import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { fleetScript, type Service } from './fleet.ts';

/** The part of the JSON result (`scan --format json`) that is checked here. */
interface ScanResult {
  status: string;
  partial: boolean;
  summary: { live_hosts: number; open_ports: number };
  results: HostResult[];
  errors: unknown[];
}

interface HostResult {
  host: string;
  state: string;
  os: { family: string; distribution: string | null; confidence: number } | null;
  os_evidence?: { source: string; evidence: string }[];
  device_type: string | null;
  identity?: { kind: string; value: string }[];
  ports: PortResult[];
  vulnerabilities?: { id: string; class: string; cpe: string | null }[];
}

interface PortResult {
  port: number;
  protocol: string;
  state: string;
  service: { name: string; product: string | null; version: string | null } | null;
  vulnerabilities?: { id: string; class: string; cpe: string | null }[];
  tls: { certificate: { subject: string; self_signed: boolean } | null } | null;
}

interface Run {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

const portolan = fileURLToPath(new URL('../../bin/portolan', import.meta.url));
/** Nothing listens on these anywhere: usual ports of servers that the fleet has on odd ones, and a few more. */
const closedPorts = [23, 111, 3389, 5432, 6379, 8080, 8888, 50_000];
const servicesOverTls = new Set(['https', 'imaps', 'pop3s']);
const scanLimitMs = 180_000;

const fleet = inject('fleet');
const fleetPorts = new Set(fleet.services.map((service) => service.port));
const ports = [...new Set([...fleetPorts, ...closedPorts])].sort((a, b) => a - b);

let run: Run;
let result: ScanResult;

beforeAll(async () => {
  const workspace = join(inject('fleetFolder'), 'workspace');
  const started = performance.now();
  const target = [fleet.network, '--profile', 'standard', '--vuln', '--ports', ports.join(',')];
  run = await onScanner([portolan, 'scan', ...target, '--format', 'json', '--workspace-dir', workspace]);
  const seconds = (performance.now() - started) / 1000;
  result = parseResult(run);
  console.log(comparison(`${fleet.network}, ${ports.length} ports, ${seconds.toFixed(1)} s`));
});

describe('a standard scan of the fleet', () => {
  test('ends well: exit code 0, completed, whole, no errors', () => {
    expect(run.exitCode, run.stderr).toBe(0);
    expect(result).toMatchObject({ status: 'completed', partial: false, errors: [] });
  });

  test('reports the hosts that exist and no other', () => {
    const hosts = new Set(fleet.services.map((service) => service.ip));
    // the scanner's own address lies in the network too: it may be reported, without open ports
    const reported = result.results.map((host) => host.host).filter((host) => host !== fleet.scanner);
    expect(new Set(reported)).toEqual(hosts);
    expect(reported).toHaveLength(hosts.size);
    expect(result.results.every((host) => host.state === 'up')).toBe(true);
  });

  test('reports no open port that is not in the truth, and none twice', () => {
    const open = result.results.flatMap((host) =>
      host.ports.filter((port) => port.state === 'open').map((port) => `${host.host} ${port.port}`),
    );
    expect(open.sort()).toEqual(fleet.services.map((service) => `${service.ip} ${service.port}`).sort());
  });

  test('counts what it reports', () => {
    expect(result.summary.open_ports).toBe(fleet.services.length);
    expect(result.summary.live_hosts).toBe(result.results.length);
  });
});

describe('each service is named', () => {
  test.each(fleet.services)('$ip:$port is $service, $product', (truth) => {
    expect(answer(find(truth))).toEqual(answerOf(truth));
  });

  test.each(fleet.services.filter((truth) => servicesOverTls.has(truth.service)))(
    '$ip:$port shows its certificate',
    (truth) => {
      expect(find(truth)?.tls?.certificate).toMatchObject({ subject: 'CN=lab.test', self_signed: true });
    },
  );
});

test('of a version alone nothing is claimed: every CVE is possible, since Debian has patched these', () => {
  const claims = result.results.flatMap((host) => [
    ...(host.vulnerabilities ?? []),
    ...host.ports.flatMap((port) => port.vulnerabilities ?? []),
  ]);
  const byVersion = claims.filter(({ cpe }) => cpe !== null);
  expect(byVersion.length).toBeGreaterThan(0);
  expect(byVersion.filter((claim) => claim.class !== 'possible')).toEqual([]);
});

describe('each host is told', () => {
  const openssh = fleet.services.filter(({ product }) => product === 'OpenSSH');

  test.each([
    ['openssh', openssh[0]],
    ['openssh-odd', openssh[1]],
  ])('%s: system, kind, and the key that stays with it', (folder, truth) => {
    const host = result.results.find(({ host }) => host === truth?.ip);
    expect(host).toMatchObject({ os: { family: 'linux', distribution: 'debian' }, device_type: 'server' });
    expect(host?.os_evidence?.[0]).toMatchObject({
      source: `${truth?.port}/tcp`,
      evidence: expect.stringMatching(/^SSH-2.0-OpenSSH_/),
    });
    const key = readFileSync(join(inject('fleetFolder'), folder, 'key.pub'), 'latin1').split(' ')[1] ?? '';
    const print = createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64').replace(/=+$/, '');
    expect(host?.identity).toEqual([{ kind: 'ssh_host_key', value: `ssh-ed25519 ${print}` }]);
  });

  test('of a host that only has a web server the kind is known, and its certificate key', () => {
    const web = fleet.services.find(({ product, service }) => product === 'nginx' && service === 'https');
    const host = result.results.find(({ host }) => host === web?.ip);
    expect(host).toMatchObject({ device_type: 'server', identity: [{ kind: 'tls_key' }] });
  });
});

/** Runs a command on the scanner's host to its end, which comes by force after three minutes. */
async function onScanner(command: string[]): Promise<Run> {
  const child = spawn('bash', [fleetScript, 'exec', ...command], {
    env: { ...process.env, PORTOLAN_LAB_PREFIX: inject('fleetPrefix') },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: scanLimitMs,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode, stdout, stderr };
}

function parseResult({ exitCode, stdout, stderr }: Run): ScanResult {
  try {
    return JSON.parse(stdout) as ScanResult;
  } catch {
    const printed = stdout === '' ? 'nothing' : `no JSON: ${stdout.slice(0, 200)}`;
    throw new Error(
      `the scan ended with exit code ${exitCode} and printed ${printed}\n${stderr.slice(-4000)}`,
    );
  }
}

function find(truth: Service): PortResult | undefined {
  const host = result.results.find((host) => host.host === truth.ip);
  return host?.ports.find((port) => port.port === truth.port && port.protocol === truth.protocol);
}

function answer(found: PortResult | undefined) {
  const { name = null, product = null, version = null } = found?.service ?? {};
  return { state: found?.state ?? 'not reported', service: name, product, version };
}

function answerOf(truth: Service) {
  const version = truth.version_exposed ? truth.version : null;
  return { state: 'open', service: truth.service, product: truth.product, version };
}

/** The truth beside what was found, one line a service. */
function comparison(title: string): string {
  const rows = fleet.services.map((truth) => {
    const [wanted, got] = [answerOf(truth), answer(find(truth))];
    const same = JSON.stringify(wanted) === JSON.stringify(got);
    return [`${truth.ip}:${truth.port}`, shown(wanted), shown(got), same ? 'same' : 'DIFFERENT'];
  });
  const table = [['where', 'truth', 'found', ''], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  const right = rows.filter((row) => row[3] === 'same').length;
  return [`${title}: ${right} of ${rows.length} right`, ...lines].map((line) => line.trimEnd()).join('\n');
}

function shown(answer: {
  state: string;
  service: string | null;
  product: string | null;
  version: string | null;
}) {
  if (answer.state !== 'open') return answer.state;
  return `${answer.service ?? '?'} ${answer.product ?? '?'} ${answer.version ?? '-'}`;
}
