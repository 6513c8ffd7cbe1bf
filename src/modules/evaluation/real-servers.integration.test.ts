import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../../../test/installed.ts';
import { tryModule } from '../../../test/module-trial.ts';
import type { HostFinding } from '../../domain/finding.ts';
import type { ParsedService } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { examineChain, rootsOf } from '../../knowledge/tls/chain.ts';
import ssh_parser from '../parser/ssh_parser.ts';
import tls_parser from '../parser/tls_parser.ts';
import banner_grabber from '../scanner/banner_grabber.ts';
import misconfig_checker from './misconfig_checker.ts';
import weak_cipher_checker from './weak_cipher_checker.ts';

/** What both checkers say of servers as Debian ships them, set up badly. Each needs its package, and most need root. */

const folder = mkdtempSync(join(tmpdir(), `portolan-servers-${process.pid}-`));
const children = new Set<ChildProcess>();
const environment = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };
const isRoot = process.getuid?.() === 0;

beforeAll(() => chmodSync(folder, 0o755));

// Not after each: many run at the same time, for they do little but wait.
afterAll(async () => {
  await Promise.all([...children].map(end));
  rmSync(folder, { recursive: true, force: true });
});

async function end(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await Promise.race([gone, sleep(2000)]);
  child.kill('SIGKILL');
}

async function freePort(): Promise<number> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a server in the foreground and waits until its port lets us in. */
async function serve(port: number, program: string, ...args: string[]): Promise<number> {
  // A group of its own: some of them signal their whole group when they end.
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment,
    cwd: folder,
    detached: true,
  });
  children.add(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-4000);
    });
  }
  for (let tries = 0; tries < 600; tries++) {
    if (await isOpen(port)) return port;
    if (child.exitCode !== null) break;
    await sleep(50);
  }
  throw new Error(`${program} did not come up: ${said}`);
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o644 });
  return path;
}

const thorough = { timeout: '2s', tls_enumerate: true, intrusive: true };

/** What a port says, and what the checkers find in it. */
async function findingsOf(
  port: number,
  config: Record<string, unknown> = thorough,
): Promise<{ ids: string[]; findings: HostFinding[]; services: ParsedService[] }> {
  const open = { host: '127.0.0.1', port, protocol: 'tcp', state: 'open', reason: 'syn-ack' };
  const grabbed = await tryModule(banner_grabber, { inputs: { open_ports: [open] }, config });
  const banners = (grabbed.published.get('banners') ?? []) as Banner[];
  const services: ParsedService[] = [];
  for (const parser of [ssh_parser, tls_parser]) {
    const { published } = await tryModule(parser, { inputs: { banners } });
    services.push(...((published.get('parsed_services') ?? []) as ParsedService[]));
  }
  const findings: HostFinding[] = [];
  for (const checker of [weak_cipher_checker, misconfig_checker]) {
    const inputs = { service_fingerprints: [], parsed_services: services, banners };
    const { published } = await tryModule(checker, { inputs });
    findings.push(...((published.get('vulnerabilities') ?? []) as HostFinding[]));
  }
  return { ids: findings.map(({ id }) => id).sort(), findings, services };
}

describe.skipIf(!isInstalled('sshd') || !isRoot)('OpenSSH', { concurrent: true }, () => {
  const keys = new Map<string, string>();

  beforeAll(() => {
    mkdirSync('/run/sshd', { recursive: true });
    for (const [type, bits] of [
      ['ed25519', '256'],
      ['rsa', '1024'],
      ['rsa', '3072'],
    ] as const) {
      const path = join(folder, `ssh-${type}-${bits}`);
      execFileSync('ssh-keygen', ['-q', '-t', type, '-b', bits, '-N', '', '-f', path]);
      keys.set(`${type} ${bits}`, path);
    }
  });

  async function serveSsh(hostKeys: string[], ...lines: string[]): Promise<number> {
    const port = await freePort();
    const settings = [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      'PidFile none',
      'UsePAM no',
      ...hostKeys.map((name) => `HostKey ${keys.get(name)}`),
      ...lines,
    ];
    return serve(port, '/usr/sbin/sshd', '-D', '-e', '-f', file(`sshd-${port}`, `${settings.join('\n')}\n`));
  }

  it('as it comes has only what its release lacks', async () => {
    const { ids, services } = await findingsOf(await serveSsh(['ed25519 256', 'rsa 3072']));
    expect(ids.filter((id) => !/^ssh-(?:terrapin|weak-mac|no-post-quantum)$/.test(id))).toEqual([]);
    expect(services.map(({ attributes }) => attributes)).toMatchObject([
      { ssh: { host_keys: [{ type: 'ssh-ed25519' }] } },
      { ssh: { rsa_host_key: { type: 'ssh-rsa', bits: 3072 } } },
      { ssh: { shortest_group: 2048 } },
    ]);
  });

  it('with everything old turned on', async () => {
    const port = await serveSsh(
      ['ed25519 256', 'rsa 1024'],
      'RequiredRSASize 1024',
      'KexAlgorithms diffie-hellman-group1-sha1,diffie-hellman-group14-sha1',
      'HostKeyAlgorithms ssh-rsa,ssh-ed25519',
      'Ciphers 3des-cbc,aes128-cbc,chacha20-poly1305@openssh.com',
      'MACs hmac-md5,hmac-sha1,umac-64@openssh.com',
    );
    const { ids, findings } = await findingsOf(port);
    expect(ids.filter((id) => id !== 'ssh-terrapin')).toEqual([
      'ssh-no-post-quantum',
      'ssh-short-host-key',
      'ssh-weak-cipher',
      'ssh-weak-host-key',
      'ssh-weak-kex',
      'ssh-weak-mac',
    ]);
    const short = findings.find(({ id }) => id === 'ssh-short-host-key');
    expect(short).toMatchObject({ severity: 'medium', detected: 'ssh-rsa 1024' });
    const print = execFileSync('ssh-keygen', ['-lf', `${keys.get('rsa 1024')}.pub`]).toString();
    expect(print).toContain(short?.evidence.split(', ')[1]);
  });

  it('a hardened server has only findings that no setting can fix', async () => {
    const port = await serveSsh(
      ['ed25519 256'],
      'KexAlgorithms sntrup761x25519-sha512@openssh.com,curve25519-sha256',
      'HostKeyAlgorithms ssh-ed25519',
      'Ciphers aes256-gcm@openssh.com,aes256-ctr',
      'MACs hmac-sha2-256-etm@openssh.com',
    );
    expect((await findingsOf(port)).ids).toEqual([]);
  });
});

describe.skipIf(!isInstalled('nginx') || !isInstalled('openssl'))('nginx', { concurrent: true }, () => {
  beforeAll(() => {
    const files = ['-keyout', join(folder, 'web.key'), '-out', join(folder, 'web.crt')];
    const subject = ['-nodes', '-days', '30', '-subj', '/CN=web.example'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...files, ...subject], {
      stdio: 'ignore',
    });
    mkdirSync(join(folder, 'www', 'files'), { recursive: true });
    writeFileSync(join(folder, 'www', 'index.html'), `<html><title>x</title>${'text '.repeat(100)}</html>`);
  });

  async function serveWeb(...lines: string[]): Promise<number> {
    const port = await freePort();
    const settings = `
      daemon off; pid ${folder}/nginx-${port}.pid; error_log stderr; worker_processes 1; ${isRoot ? 'user root;' : ''}
      events {}
      http {
        types { text/html html; }
        access_log off;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
        server {
          listen 127.0.0.1:${port} ssl; ssl_certificate web.crt; ssl_certificate_key web.key;
          root ${folder}/www; ${lines.join(' ')}
        }
      }`;
    return serve(port, 'nginx', '-c', file(`nginx-${port}.conf`, settings), '-p', folder);
  }

  it('that packs its pages has a condition of BREACH, one that does not has none', async () => {
    const [packs, plain, brief] = await Promise.all([
      serveWeb('gzip on;', 'gzip_min_length 20;').then((port) => findingsOf(port)),
      serveWeb('gzip off;').then((port) => findingsOf(port)),
      serveWeb('gzip on;', 'gzip_min_length 20;').then((port) => findingsOf(port, { timeout: '1s' })),
    ]);
    expect(packs.findings.find(({ id }) => id === 'http-compression-in-tls')).toMatchObject({
      severity: 'info',
      evidence: 'response to GET /: Content-Encoding: gzip',
    });
    expect(plain.ids).not.toContain('http-compression-in-tls');
    expect(brief.ids).not.toContain('http-compression-in-tls');
  });

  it('that lists its files and lacks the usual headers', async () => {
    const { ids } = await findingsOf(
      await serveWeb('index none;', 'autoindex on;', 'add_header Strict-Transport-Security max-age=60;'),
    );
    expect(ids).toEqual(
      expect.arrayContaining([
        'http-directory-listing',
        'http-hsts-short',
        'http-security-headers',
        'tls-cert-self-signed',
      ]),
    );
  });
});

describe.skipIf(!isInstalled('openssl'))('certificates in real handshakes', { concurrent: true }, () => {
  /** A certificate by the one above it; a root signs itself. */
  function issue(
    name: string,
    above: string | null,
    extensions: string[],
    days = '90',
    key = 'rsa:2048',
  ): void {
    const path = (kind: string) => join(folder, `${name}.${kind}`);
    const request = ['req', '-newkey', key, '-nodes', '-keyout', path('key'), '-out', path('csr')];
    execFileSync('openssl', [...request, '-subj', `/CN=${name}`], { stdio: 'ignore' });
    const signer =
      above === null
        ? ['-signkey', path('key')]
        : ['-CA', join(folder, `${above}.crt`), '-CAkey', join(folder, `${above}.key`), '-CAcreateserial'];
    const lines = file(`${name}.ext`, `${extensions.join('\n')}\n`);
    const certificate = ['x509', '-req', '-in', path('csr'), '-out', path('crt'), '-days', days];
    execFileSync('openssl', [...certificate, ...signer, '-extfile', lines], { stdio: 'ignore' });
  }

  const names = 'subjectAltName=DNS:www.example.net';
  const issuerPlace = 'authorityInfoAccess=caIssuers;URI:http://ca.example.net/issuer.crt';
  /** Two timestamps of logs, 4 bytes each. */
  const timestamps = '1.3.6.1.4.1.11129.2.4.2=DER:040e000c0004aabbccdd0004aabbccdd';

  beforeAll(() => {
    issue('root', null, ['basicConstraints=critical,CA:TRUE']);
    issue('middle', 'root', ['basicConstraints=critical,CA:TRUE', issuerPlace], '90', 'rsa:1024');
    issue('leaf', 'middle', [names, issuerPlace, timestamps, 'tlsfeature=status_request']);
    issue('star', 'root', ['subjectAltName=DNS:*.example.net'], '1000');
    issue('bare', 'root', ['keyUsage=digitalSignature,keyEncipherment']);
  });

  async function serveChain(leaf: string, others: string[], ...more: string[]): Promise<number> {
    const port = await freePort();
    const chain = others.map((name) => readFileSync(join(folder, `${name}.crt`), 'latin1')).join('');
    const files = ['-cert', join(folder, `${leaf}.crt`), '-key', join(folder, `${leaf}.key`)];
    const above = others.length > 0 ? ['-cert_chain', file(`${leaf}-chain-${port}.pem`, chain)] : [];
    return serve(
      port,
      'openssl',
      's_server',
      '-accept',
      `127.0.0.1:${port}`,
      '-www',
      // Short keys are refused otherwise.
      '-cipher',
      'DEFAULT:@SECLEVEL=0',
      ...files,
      ...above,
      ...more,
    );
  }

  const certificateIds = ({ ids }: { ids: string[] }) =>
    ids.filter((id) => /^tls-(?:cert|must|weak-(?:key|sig))/.test(id));

  it('a whole chain of a private authority', async () => {
    const found = await findingsOf(await serveChain('leaf', ['middle', 'root']));
    expect(certificateIds(found)).toEqual([
      'tls-cert-unknown-authority',
      'tls-must-staple-ignored',
      'tls-weak-key',
    ]);
    expect(found.services.at(-1)?.attributes).toMatchObject({
      tls: {
        authority: 'unknown',
        chain_flaws: [],
        certificate: { scts: 2, must_staple: true, ca: false, sans: ['www.example.net'] },
        chain: [
          { subject: 'CN=middle', key: 'RSA 1024' },
          { subject: 'CN=root', key: 'RSA 2048' },
        ],
      },
    });
    const weak = found.findings.find(({ id }) => id === 'tls-weak-key');
    expect(weak?.evidence).toBe('CN=middle: RSA 1024');
  });

  it.each([
    ['in the wrong order', ['root', 'middle'], ['tls-cert-unknown-authority', 'tls-cert-wrong-order']],
    ['without what issued it', [], ['tls-cert-missing-issuer', 'tls-cert-unknown-authority']],
  ])('a chain %s', async (_how, others, expected) => {
    const findings = async (version: string) =>
      certificateIds(await findingsOf(await serveChain('leaf', others, version), { timeout: '2s' }));
    for (const ids of await Promise.all([findings('-tls1_2'), findings('-tls1_3')]))
      expect(ids.filter((id) => id.startsWith('tls-cert'))).toEqual(expected);
  });

  it.each([
    ['star', ['tls-cert-long-validity', 'tls-cert-unknown-authority', 'tls-cert-wildcard']],
    ['bare', ['tls-cert-no-san', 'tls-cert-unknown-authority']],
    ['root', ['tls-cert-no-san', 'tls-cert-self-signed']],
  ])('a certificate: %s', async (name, expected) => {
    expect(certificateIds(await findingsOf(await serveChain(name, []), { timeout: '2s' }))).toEqual(expected);
  });

  it('one of a public authority has none of that, and two ends of time', async () => {
    const [, ...others] = rootCertificates;
    expect(others.length).toBeGreaterThan(100);
    const middle = new X509Certificate(readFileSync(join(folder, 'middle.crt')));
    const leaf = new X509Certificate(readFileSync(join(folder, 'leaf.crt')));
    const roots = rootsOf([new X509Certificate(readFileSync(join(folder, 'root.crt')))]);
    expect(examineChain([leaf, middle], roots)).toEqual({ authority: 'public', chain_flaws: [] });
    // Who is not in the chain that was signed vouches for nothing.
    const stranger = new X509Certificate(readFileSync(join(folder, 'star.crt')));
    expect(examineChain([leaf, stranger], roots)).toEqual({
      authority: 'unknown',
      chain_flaws: ['wrong-order', 'missing-issuer'],
    });
    const known = new X509Certificate(others[0] as string);
    expect(examineChain([known]).authority).toBe('public');
  });
});

/** Each with the finding that its set-up deserves, and what of it is left when it is set up well. */
describe.skipIf(!isRoot)('daemons', { concurrent: true }, () => {
  const plain = { timeout: '1500ms', intrusive: true };

  it.skipIf(!isInstalled('redis-server'))('Redis', async () => {
    const start = (port: number, ...more: string[]) =>
      serve(port, 'redis-server', '--port', String(port), '--bind', '127.0.0.1', '--save', '', ...more);
    const findings = async (...more: string[]) =>
      (await findingsOf(await start(await freePort(), ...more), plain)).ids;
    const [open, guarded] = await Promise.all([findings(), findings('--requirepass', 'x')]);
    expect([open, guarded]).toEqual([['redis-no-auth'], []]);
  });

  it.skipIf(!isInstalled('memcached'))('memcached', async () => {
    const port = await freePort();
    await serve(port, 'memcached', '-u', 'nobody', '-l', '127.0.0.1', '-p', String(port), '-U', '0');
    expect((await findingsOf(port, plain)).ids).toEqual(['memcached-no-auth']);
  });

  it.skipIf(!isInstalled('rsync'))('rsync', async () => {
    const settings = (list: string) =>
      file(`rsyncd-${list}.conf`, `[files]\npath = ${folder}\nlist = ${list}\n`);
    const start = async (list: string) => {
      const port = await freePort();
      return serve(
        port,
        'rsync',
        '--daemon',
        '--no-detach',
        '--address=127.0.0.1',
        `--port=${port}`,
        `--config=${settings(list)}`,
      );
    };
    expect((await findingsOf(await start('yes'), plain)).ids).toEqual(['rsync-modules-listed']);
    expect((await findingsOf(await start('no'), plain)).ids).toEqual([]);
  });

  it.skipIf(!isInstalled('vsftpd'))('vsftpd', async () => {
    const port = await freePort();
    const root = join(folder, 'ftp');
    mkdirSync(root, { mode: 0o555, recursive: true });
    const settings = {
      listen: 'YES',
      listen_address: '127.0.0.1',
      listen_port: port,
      background: 'NO',
      anonymous_enable: 'YES',
      no_anon_password: 'YES',
      anon_root: root,
      secure_chroot_dir: root,
      seccomp_sandbox: 'NO',
      ftp_username: 'daemon',
    };
    const text = Object.entries(settings)
      .map(([key, value]) => `${key}=${value}\n`)
      .join('');
    await serve(port, 'vsftpd', file('vsftpd.conf', text));
    expect((await findingsOf(port, plain)).ids).toEqual(['ftp-anonymous', 'ftp-cleartext']);
    const { ids } = await findingsOf(port, { timeout: '1500ms' });
    expect(ids, 'nobody logs in without leave').toEqual(['ftp-cleartext']);
  });

  it.skipIf(!isInstalled('Xvfb'))('an X server', async ({ skip }) => {
    // Displays of the machine are shared with whatever else runs on it.
    const display = [4, 5, 7, 8, 9].find((each) => !existsSync(`/tmp/.X${each}-lock`));
    if (display === undefined) return skip('every display is taken');
    await serve(6000 + display, 'Xvfb', `:${display}`, '-listen', 'tcp', '-ac', '-nolisten', 'local');
    expect((await findingsOf(6000 + display, plain)).ids).toEqual(['x11-open']);
  });
});
