import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { checkBanners } from '../../../test/check-banners.ts';
import {
  httpResponse,
  mongodbResponse,
  responding,
  rpcResponse,
  smb1Response,
  smb2Response,
  snmpResponse,
  x11Admission,
} from '../../../test/fixed-responses.ts';
import { closeServers, listen, tryModule } from '../../../test/module-trial.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import type { HostFinding } from '../../domain/finding.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { certificateDer, privateKey } from '../../knowledge/protocols/test-certificate.ts';
import grabber from '../scanner/banner_grabber.ts';

const agents: UdpSocket[] = [];

afterEach(() => {
  closeServers();
  for (const agent of agents.splice(0)) agent.close();
});

/** Findings from the banners that the grabber reads from a port. */
async function scan(
  port: number,
  { host = '127.0.0.1', protocol = 'tcp', config = {} as Record<string, unknown> } = {},
): Promise<HostFinding[]> {
  const open = { host, port, protocol, state: 'open', reason: 'syn-ack' };
  // All servers are in this process: no clock has to wait for them.
  const { result } = await inVirtualTime(() =>
    tryModule(grabber, {
      inputs: { open_ports: [open] },
      config: { timeout: '600ms', retries: 0, tls: false, ...config },
      targets: [host],
    }),
  );
  return await checkBanners((result.published.get('banners') ?? []) as Banner[]);
}

describe('from the wire to the finding', () => {
  it('Redis without a password; with one there is no finding', async () => {
    const info = '# Server\r\nredis_version:7.0.15\r\nos:Linux\r\n';
    const open = await listen(
      responding((request) =>
        String(request).startsWith('INFO') ? `$${info.length}\r\n${info}\r\n` : '-ERR unknown command\r\n',
      ),
    );
    expect(await scan(open)).toMatchObject([
      {
        id: 'redis-no-auth',
        severity: 'critical',
        evidence: 'redis_version:7.0.15',
        port: open,
        plugin: 'misconfig_checker',
      },
    ]);
    const shut = await listen(responding(() => '-NOAUTH Authentication required.\r\n'));
    expect(await scan(shut)).toEqual([]);
  });

  it('VNC with and without a password', async () => {
    const vnc = (types: string) => responding(() => types, 'RFB 003.008\n');
    const [found] = await scan(await listen(vnc('\x02\x01\x02')));
    expect(found).toMatchObject({ id: 'vnc-no-auth', evidence: 'RFB 3.8, security types 1, 2 (1 = None)' });
    expect(await scan(await listen(vnc('\x01\x02')))).toEqual([]);
  });

  it('a Docker API; a web server behind the same path is none', async () => {
    const docker = responding((request) =>
      String(request).startsWith('GET /version ')
        ? httpResponse(
            '200 OK',
            { Server: 'Docker/24.0.5 (linux)' },
            '{"Version":"24.0.5","ApiVersion":"1.43"}',
          )
        : httpResponse(
            '404 Not Found',
            { Server: 'Docker/24.0.5 (linux)', 'Api-Version': '1.43' },
            '{"message":"page not found"}',
          ),
    );
    const [found] = await scan(await listen(docker));
    expect(found).toMatchObject({ id: 'docker-api-no-auth', severity: 'critical' });
    expect(found?.evidence).toContain('"ApiVersion":"1.43"');
    const page = responding(() => httpResponse('404 Not Found', { Server: 'nginx' }, 'no'));
    expect(await scan(await listen(page))).toEqual([]);
  });

  it('etcd with open access, and one that requires authentication', async () => {
    const etcd = (count: string, status: string) =>
      responding((request) => {
        const text = String(request);
        if (text.startsWith('GET /version '))
          return httpResponse('200 OK', {}, '{"etcdserver":"3.5.16","etcdcluster":"3.5.0"}');
        if (text.startsWith('POST /v3/kv/range ')) return httpResponse(status, {}, count);
        return httpResponse('404 Not Found', {}, '404 page not found\n');
      });
    const header = '{"header":{"cluster_id":"1","member_id":"2","revision":"5","raft_term":"3"},"count":"4"}';
    const host = '127.21.0.1';
    await listen(etcd(header, '200 OK'), host, 2379);
    const found = await scan(2379, { host });
    expect(found.map(({ id }) => id)).toEqual(['etcd-exposed', 'etcd-no-auth']);
    const guarded = '127.21.0.2';
    await listen(
      etcd('{"error":"etcdserver: user name is empty","code":3}', '400 Bad Request'),
      guarded,
      2379,
    );
    expect((await scan(2379, { host: guarded })).map(({ id }) => id)).toEqual(['etcd-exposed']);
  });

  it('a kubelet that shows its pods, and one that forbids it', async () => {
    const kubelet = (status: string, body: string) =>
      responding((request) =>
        String(request).startsWith('GET /pods ')
          ? httpResponse(status, {}, body)
          : httpResponse('404 Not Found', {}, '404 page not found\n'),
      );
    const host = '127.21.0.3';
    await listen(kubelet('200 OK', '{"kind":"PodList","apiVersion":"v1","items":[]}'), host, 10_255);
    expect(await scan(10_255, { host })).toMatchObject([{ id: 'kubelet-anonymous' }]);
    const guarded = '127.21.0.4';
    await listen(kubelet('401 Unauthorized', 'Unauthorized'), guarded, 10_255);
    expect(await scan(10_255, { host: guarded })).toEqual([]);
  });

  it('a kubelet behind TLS gets its further probes through TLS', async () => {
    const host = '127.21.0.13';
    const kubelet = createTlsServer(
      {
        key: privateKey().export({ type: 'pkcs8', format: 'pem' }),
        cert: pem(certificateDer({ commonName: 'node', signed: true })),
      },
      responding((request) =>
        String(request).startsWith('GET /pods ')
          ? httpResponse('200 OK', {}, '{"kind":"PodList","items":[]}')
          : httpResponse('404 Not Found', {}, '404 page not found\n'),
      ),
    );
    kubelet.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => kubelet.listen(10_250, host, resolve));
    const found = await scan(10_250, { host, config: { tls: true } });
    kubelet.close();
    expect(found.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['kubelet-anonymous', 'tls-cert-self-signed']),
    );
  });

  it('MongoDB with and without access control', async () => {
    const mongodb = (list: Buffer) =>
      responding((request) =>
        request.includes('buildInfo')
          ? mongodbResponse({ version: '7.0.14', ok: 1 })
          : request.includes('listDatabases')
            ? list
            : null,
      );
    const host = '127.21.0.5';
    await listen(mongodb(mongodbResponse({ databases: { 0: { name: 'shop' } }, ok: 1 })), host, 27_017);
    expect(await scan(27_017, { host })).toMatchObject([
      { id: 'mongodb-no-auth', evidence: 'listDatabases: shop' },
    ]);
    const guarded = '127.21.0.6';
    await listen(mongodb(mongodbResponse({ ok: 0, codeName: 'Unauthorized' })), guarded, 27_017);
    expect(await scan(27_017, { host: guarded })).toEqual([]);
  });

  it('an X server, Remote Desktop and NFS', async () => {
    const host = '127.21.0.7';
    await listen(
      responding(() => x11Admission('The X.Org Foundation')),
      host,
      6000,
    );
    await listen(
      responding(() => Buffer.from([3, 0, 0, 19, 14, 0xd0, 0, 0, 1, 2, 0, 2, 0, 8, 0, 1, 0, 0, 0])),
      host,
      3389,
    );
    await listen(
      responding(() => rpcResponse()),
      host,
      2049,
    );
    expect(await scan(6000, { host })).toMatchObject([{ id: 'x11-open' }]);
    expect(await scan(3389, { host })).toMatchObject([
      { id: 'rdp-no-nla', evidence: 'negotiation response, selected protocol 1' },
    ]);
    expect(await scan(2049, { host })).toMatchObject([{ id: 'nfs-exposed' }]);
    const guarded = '127.21.0.8';
    await listen(
      responding(() => Buffer.from([3, 0, 0, 19, 14, 0xd0, 0, 0, 1, 2, 0, 3, 0, 8, 0, 5, 0, 0, 0])),
      guarded,
      3389,
    );
    expect(await scan(3389, { host: guarded })).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'SMB 1 beside SMB 2, probed on separate connections (ports below 1024: root)',
    async () => {
      const host = '127.21.0.9';
      const smb = (old: Buffer | null) =>
        responding((request) =>
          request.includes('\xfeSMB', 0, 'latin1') ? smb2Response({ signing: 1, dialect: 0x0302 }) : old,
        );
      await listen(smb(smb1Response(0)), host, 445);
      expect((await scan(445, { host })).map(({ id }) => id)).toEqual(['smb-signing-optional', 'smb-v1']);
      const modern = '127.21.0.10';
      await listen(smb(null), modern, 445);
      expect((await scan(445, { host: modern })).map(({ id }) => id)).toEqual(['smb-signing-optional']);
      const ancient = '127.21.0.11';
      await listen(
        responding((request) => (request.includes('NT LM 0.12') ? smb1Response(0) : null)),
        ancient,
        445,
      );
      expect((await scan(445, { host: ancient })).map(({ id }) => id)).toEqual(['smb-v1']);
      await listen(
        responding(() => rpcResponse(1, 100_003, 3, 6, 2049, 0)),
        host,
        111,
      );
      expect(await scan(111, { host })).toMatchObject([
        { id: 'nfs-exposed', evidence: 'registered at the port mapper: NFS version 3 on 2049/tcp' },
      ]);
    },
  );

  it('rsync that lists its modules', async () => {
    const port = await listen(responding(() => 'web\tpages\n@RSYNCD: EXIT\n', '@RSYNCD: 31.0\n'));
    expect(await scan(port)).toMatchObject([{ id: 'rsync-modules-listed', evidence: '#list: web: pages' }]);
  });

  it('anonymous FTP is tried only where a login is allowed', async () => {
    const commands: string[] = [];
    const ftp = responding((request) => {
      const line = String(request).trim();
      commands.push(line);
      if (line === 'FEAT') return '211-Features:\r\n UTF8\r\n211 End\r\n';
      if (line.startsWith('USER')) return '331 Please specify the password.\r\n';
      if (line.startsWith('PASS')) return '230 Login successful.\r\n';
      return '215 UNIX Type: L8\r\n';
    }, '220 (vsFTPd 3.0.5)\r\n');
    const port = await listen(ftp);
    expect((await scan(port)).map(({ id }) => id)).toEqual(['ftp-cleartext']);
    expect(commands.some((line) => /^(?:USER|PASS)/.test(line))).toBe(false);
    const found = await scan(port, { config: { intrusive: true } });
    expect(found.map(({ id }) => id)).toEqual(['ftp-cleartext', 'ftp-anonymous']);
    expect(found[1]?.evidence).toBe('USER anonymous: 230 Login successful.');
  });

  it.skipIf(process.getuid?.() !== 0)('SNMP, NTP and DNS over UDP (ports below 1024: root)', async () => {
    const host = '127.21.0.12';
    const agent = async (port: number, reply: (request: Buffer) => Buffer | null) => {
      const socket = createSocket('udp4');
      agents.push(socket);
      socket.on('message', (request, { address, port: from }) => {
        const said = reply(request);
        if (said) socket.send(said, from, address);
      });
      await new Promise<void>((resolve) => socket.bind(port, host, resolve));
    };
    await agent(161, (request) =>
      request.includes('public') && request[4] === 1 ? snmpResponse({ text: 'Linux gw' }) : null,
    );
    await agent(123, (request) =>
      request[0] === 0x17
        ? Buffer.from('d700032a00020048', 'hex')
        : Buffer.concat([Buffer.from([0x1c, 2]), Buffer.alloc(46)]),
    );
    await agent(53, (request) => {
      const response = Buffer.from(request);
      response[2] = 0x80;
      response[3] = 0x80;
      return response;
    });
    const udp = { host, protocol: 'udp' };
    expect(await scan(161, udp)).toMatchObject([
      { id: 'snmp-public', protocol: 'udp', evidence: 'version 2c, sysDescr.0: Linux gw' },
    ]);
    expect(await scan(123, udp)).toMatchObject([{ id: 'ntp-monlist' }]);
    expect(await scan(53, udp)).toMatchObject([{ id: 'dns-open-recursion' }]);
  });
});

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
