/**
 * Servers of earlier years, as far as a scanner sees them without a login: what they greet and answer with. None of
 * them says who built it, unless it did so in its day.
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** A server that is played, and what is known of it. */
export interface OldServer {
  product: string;
  version: string;
  /** `vendor:product` of its CPE names; further ones that its answer shows, with their versions. */
  cpe: string;
  others?: [cpe: string, version: string][];
  /** CVEs of CISA's list that this version has by what its maker says. */
  exploited: string[];
  speak(socket: Socket): void;
}

/** Says its piece at once and answers everything with one line. */
function greeting(text: string, answer = '500 unknown command\r\n') {
  return (socket: Socket) => {
    socket.write(text);
    socket.on('data', () => socket.write(answer));
  };
}

/** Answers every request of HTTP with one page, and whatever else with an error. */
function web(headers: string[], body = '<html><body>It works!</body></html>', status = '200 OK') {
  return (socket: Socket) => {
    socket.once('data', (request) => {
      const isHttp = /^[A-Z]+ \S+ HTTP\/1/.test(request.toString('latin1'));
      const head = `HTTP/1.1 ${isHttp ? status : '400 Bad Request'}\r\n${headers.join('\r\n')}\r\n`;
      socket.end(`${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
    });
  };
}

const html = 'Content-Type: text/html';

/** Answers `INFO` and `PING`; the length of a bulk string is in bytes. */
function redis(version: string) {
  return (socket: Socket) => {
    socket.on('data', (data) => {
      const info = `# Server\r\nredis_version:${version}\r\nredis_mode:standalone\r\nos:Linux 3.10.0 x86_64\r\n`;
      const asked = data.toString('latin1').toUpperCase();
      if (asked.includes('INFO')) socket.write(`$${info.length}\r\n${info}\r\n`);
      else if (asked.includes('PING')) socket.write('+PONG\r\n');
      else socket.write('-ERR unknown command\r\n');
    });
  };
}

/** Greeting of protocol 10 (MySQL, "Connection Phase Packets"). */
function mysql(version: string) {
  const fields = Buffer.concat([
    Buffer.from(`\x0a${version}\0\x01\0\0\0`, 'latin1'),
    Buffer.from('abcdefgh\0\xff\xf7\x08\x02\0\x0f\x80\x15', 'latin1'),
    Buffer.alloc(10),
    Buffer.from('ijklmnopqrst\0mysql_native_password\0', 'latin1'),
  ]);
  const head = Buffer.from([fields.length, 0, 0, 0]);
  return (socket: Socket) => {
    socket.write(Buffer.concat([head, fields]));
    socket.on('data', () => socket.end());
  };
}

const smtpAnswer = '250 mail.example.net\r\n';

export const oldServers: readonly OldServer[] = [
  {
    product: 'OpenSSH',
    version: '7.2',
    cpe: 'openbsd:openssh',
    exploited: [],
    speak: greeting('SSH-2.0-OpenSSH_7.2\r\n', ''),
  },
  {
    product: 'OpenSSH',
    version: '4.3',
    cpe: 'openbsd:openssh',
    exploited: [],
    speak: greeting('SSH-2.0-OpenSSH_4.3\r\n', ''),
  },
  {
    product: 'Dropbear',
    version: '2012.55',
    cpe: 'dropbear_ssh_project:dropbear_ssh',
    exploited: [],
    speak: greeting('SSH-2.0-dropbear_2012.55\r\n', ''),
  },
  {
    product: 'vsftpd',
    version: '2.3.4',
    cpe: 'vsftpd_project:vsftpd',
    exploited: [],
    speak: greeting('220 (vsFTPd 2.3.4)\r\n', '530 Please login with USER and PASS.\r\n'),
  },
  {
    product: 'ProFTPD',
    version: '1.3.5',
    cpe: 'proftpd:proftpd',
    exploited: [],
    speak: greeting('220 ProFTPD 1.3.5 Server (ProFTPD Default Installation) [192.0.2.7]\r\n'),
  },
  {
    product: 'Apache httpd',
    version: '2.4.49',
    cpe: 'apache:http_server',
    exploited: ['CVE-2021-41773', 'CVE-2021-42013'],
    speak: web(['Server: Apache/2.4.49 (Unix)', html]),
  },
  {
    product: 'Apache httpd',
    version: '2.2.8',
    cpe: 'apache:http_server',
    exploited: [],
    speak: web(['Server: Apache/2.2.8', html]),
  },
  {
    product: 'Apache httpd',
    version: '2.4.7',
    cpe: 'apache:http_server',
    others: [
      ['openssl:openssl', '1.0.1e'],
      ['php:php', '5.4.1'],
    ],
    exploited: ['CVE-2014-0160', 'CVE-2012-1823', 'CVE-2021-40438'],
    speak: web(['Server: Apache/2.4.7 (Unix) OpenSSL/1.0.1e PHP/5.4.1', 'X-Powered-By: PHP/5.4.1', html]),
  },
  {
    product: 'nginx',
    version: '1.13.2',
    cpe: 'f5:nginx',
    exploited: [],
    speak: web(['Server: nginx/1.13.2', html]),
  },
  {
    product: 'Microsoft IIS',
    version: '6.0',
    cpe: 'microsoft:internet_information_services',
    exploited: ['CVE-2017-7269'],
    speak: web(['Server: Microsoft-IIS/6.0', 'X-Powered-By: ASP.NET', html]),
  },
  {
    product: 'Jenkins',
    version: '2.440',
    cpe: 'jenkins:jenkins',
    exploited: ['CVE-2024-23897'],
    speak: web(
      ['Server: Jetty(10.0.18)', 'X-Jenkins: 2.440', html],
      '<html><head><title>Sign in [Jenkins]</title></head></html>',
    ),
  },
  {
    product: 'Apache Tomcat',
    version: '7.0.79',
    cpe: 'apache:tomcat',
    exploited: ['CVE-2017-12615', 'CVE-2017-12617', 'CVE-2020-1938'],
    speak: web(
      ['Server: Apache-Coyote/1.1', html],
      '<html><head><title>Apache Tomcat/7.0.79 - Error report</title></head><body><h1>HTTP Status 404 - /</h1><h3>Apache Tomcat/7.0.79</h3></body></html>',
      '404 Not Found',
    ),
  },
  {
    product: 'Elasticsearch',
    version: '1.4.2',
    cpe: 'elastic:elasticsearch',
    exploited: ['CVE-2015-1427'],
    speak: web(
      ['Content-Type: application/json; charset=UTF-8'],
      '{\n  "status" : 200,\n  "name" : "Node 1",\n  "cluster_name" : "elasticsearch",\n  "version" : {\n    "number" : "1.4.2",\n    "build_hash" : "927caff6f05403e936c20bf4529f144f0c89fd8c",\n    "build_timestamp" : "2014-12-16T14:11:12Z",\n    "build_snapshot" : false,\n    "lucene_version" : "4.10.2"\n  },\n  "tagline" : "You Know, for Search"\n}\n',
    ),
  },
  {
    product: 'Rejetto HFS',
    version: '2.3',
    cpe: 'rejetto:http_file_server',
    exploited: ['CVE-2014-6287', 'CVE-2024-23692'],
    speak: web(['Server: HFS 2.3', html]),
  },
  {
    product: 'Confluence',
    version: '7.13.0',
    cpe: 'atlassian:confluence_server',
    exploited: ['CVE-2022-26134'],
    speak: web(
      ['X-Confluence-Request-Time: 1641000000000', html],
      '<html><head><title>Log In - Confluence</title><meta name="confluence-context-path" content=""><meta name="ajs-version-number" content="7.13.0"><meta name="ajs-build-number" content="8703"></head></html>',
    ),
  },
  {
    product: 'Exim',
    version: '4.87',
    cpe: 'exim:exim',
    exploited: ['CVE-2018-6789', 'CVE-2019-10149'],
    speak: greeting('220 mail.example.net ESMTP Exim 4.87 Tue, 01 Nov 2016 10:00:00 +0000\r\n', smtpAnswer),
  },
  {
    product: 'Exim',
    version: '4.69',
    cpe: 'exim:exim',
    exploited: ['CVE-2010-4344', 'CVE-2010-4345', 'CVE-2018-6789'],
    speak: greeting('220 mail.example.net ESMTP Exim 4.69 Tue, 01 Dec 2009 10:00:00 +0000\r\n', smtpAnswer),
  },
  { product: 'Redis', version: '3.2.0', cpe: 'redis:redis', exploited: [], speak: redis('3.2.0') },
  { product: 'MySQL', version: '5.5.23', cpe: 'oracle:mysql', exploited: [], speak: mysql('5.5.23') },
];

/** An old server that listens on loopback. */
export interface PlayedServer extends OldServer {
  ip: string;
  port: number;
}

/** Starts each on an address of its own. @returns them, and what ends them all */
export async function playOldServers(): Promise<{ played: PlayedServer[]; end: () => void }> {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const played: PlayedServer[] = [];
  for (const [at, old] of oldServers.entries()) {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => sockets.delete(socket));
      old.speak(socket);
    });
    servers.push(server);
    const ip = `127.0.83.${at + 1}`;
    server.listen(0, ip);
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    played.push({ ...old, ip, port: address.port });
  }
  const end = () => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  };
  return { played, end };
}
