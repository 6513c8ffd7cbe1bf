import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { certificateDer, privateKey } from '../../src/knowledge/protocols/test-certificate.ts';

/** Serves one connection. */
export type Serve = (socket: Socket) => void;

/** A service that a shipped rule finds, and one of the same kind that it does not. */
export interface RuleServices {
  positive: Serve;
  negative: Serve;
}

/** Greets, then responds to each request by its text; null = silence. */
function talking(greeting: string | Buffer, respond: (request: string) => string | Buffer | null): Serve {
  return (socket) => {
    if (greeting.length > 0) socket.write(greeting);
    socket.on('data', (bytes: Buffer) => {
      const response = respond(bytes.toString('latin1'));
      if (response !== null) socket.write(response);
    });
  };
}

interface Page {
  status?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A web server that has this page at the root and nothing else. */
function web({ status = '200 OK', headers = {}, body = '<title>Plain</title>' }: Page): Serve {
  const lines = Object.entries({
    'Content-Type': 'text/html',
    'Content-Length': String(body.length),
    ...headers,
  });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return talking('', (request) => {
    if (!/^(?:GET|HEAD|OPTIONS|POST) /.test(request))
      return 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n';
    if (!request.startsWith('GET / ')) return 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n';
    return `HTTP/1.1 ${status}\r\n${head}\r\n${body}`;
  });
}

const header = (name: string, value: string) => web({ headers: { [name]: value } });
const titled = (title: string) => web({ body: `<html><title>${title}</title>` });

type CertificateShape = Parameters<typeof certificateDer>[0];

/** Another service inside TLS, with a certificate of an authority unless it says otherwise. */
function secured(inner: Serve, certificate: Partial<CertificateShape> = {}, sessionTimeout?: number): Serve {
  const shape = {
    commonName: 'www.example.edu',
    issuer: 'An authority',
    serial: [1, 2, 3, 4, 5, 6, 7, 8, 9],
    ...certificate,
  };
  const der = certificateDer(shape).toString('base64');
  const cert = `-----BEGIN CERTIFICATE-----\n${der.replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
  const key = privateKey().export({ type: 'pkcs8', format: 'pem' });
  const secureContext = createSecureContext({ cert, key, ...(sessionTimeout && { sessionTimeout }) });
  return (socket) => {
    const secure = new TLSSocket(socket, { isServer: true, secureContext });
    secure.on('error', () => socket.destroy());
    inner(secure);
  };
}

interface SshLists {
  software?: string;
  hostKeys?: string;
  ciphers?: string;
  macs?: string;
  compression?: string;
}

/** The identification line and KEXINIT (RFC 4253, 7.1) of an SSH server. */
function ssh({
  software = 'OpenSSH_9.9',
  hostKeys = 'ssh-ed25519',
  ciphers = 'aes256-gcm@openssh.com',
  macs = 'hmac-sha2-256-etm@openssh.com',
  compression = 'none',
}: SshLists): Serve {
  const kex = 'mlkem768x25519-sha256,kex-strict-s-v00@openssh.com';
  const lists = [kex, hostKeys, ciphers, ciphers, macs, macs, compression, compression, '', ''];
  const parts = lists.flatMap((list) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(list.length);
    return [length, Buffer.from(list)];
  });
  const payload = Buffer.concat([Buffer.from([20]), Buffer.alloc(16, 7), ...parts, Buffer.alloc(5)]);
  const padding = 16 - ((payload.length + 5) % 8);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(payload.length + 1 + padding);
  head[4] = padding;
  return talking(
    Buffer.concat([Buffer.from(`SSH-2.0-${software}\r\n`), head, payload, Buffer.alloc(padding)]),
    () => null,
  );
}

/** The handshake of MySQL (protocol 10), with the login plugin that the server proposes. */
function mysql(version: string, plugin: string): Serve {
  const body = Buffer.concat([
    Buffer.from([10]),
    Buffer.from(`${version}\0`, 'latin1'),
    Buffer.from([8, 0, 0, 0]),
    Buffer.from('abcdefgh\0', 'latin1'),
    Buffer.from([0xff, 0xff, 0xff, 2, 0, 0xff, 0xc7, 21]),
    Buffer.alloc(10),
    Buffer.from('ijklmnopqrst\0', 'latin1'),
    Buffer.from(`${plugin}\0`, 'latin1'),
  ]);
  const head = Buffer.from([body.length, 0, 0, 0]);
  return talking(Buffer.concat([head, body]), () => null);
}

function smtp(...extensions: string[]): Serve {
  const lines = ['mail.example.edu', ...extensions];
  const ehlo = lines.map((line, index) => `250${index === lines.length - 1 ? ' ' : '-'}${line}\r\n`).join('');
  return talking('220 mail.example.edu ESMTP Postfix\r\n', (request) => {
    if (request.startsWith('EHLO')) return ehlo;
    return request.startsWith('QUIT') ? '221 2.0.0 Bye\r\n' : '502 5.5.2 Error: command not recognized\r\n';
  });
}

function ftp(...features: string[]): Serve {
  const feat = `211-Features:\r\n${features.map((line) => ` ${line}\r\n`).join('')}211 End\r\n`;
  return talking('220 (vsFTPd 3.0.5)\r\n', (request) => {
    if (request.startsWith('FEAT')) return feat;
    if (request.startsWith('SYST')) return '215 UNIX Type: L8\r\n';
    return request.startsWith('QUIT') ? '221 Goodbye.\r\n' : '530 Please login with USER and PASS.\r\n';
  });
}

function pop3(...capabilities: string[]): Serve {
  const capa = `+OK\r\n${['USER', 'UIDL', ...capabilities].join('\r\n')}\r\n.\r\n`;
  return talking('+OK Dovecot ready.\r\n', (request) =>
    request.startsWith('CAPA') ? capa : '-ERR Unknown command.\r\n',
  );
}

function imap(...capabilities: string[]): Serve {
  const list = ['IMAP4rev1', ...capabilities].join(' ');
  return talking(`* OK [CAPABILITY ${list}] Dovecot ready.\r\n`, (request) => {
    const [tag = '*', command = ''] = request.split(' ');
    if (/^CAPABILITY/i.test(command)) return `* CAPABILITY ${list}\r\n${tag} OK done.\r\n`;
    return `${tag} BAD Error in IMAP command.\r\n`;
  });
}

/** A broker of MQTT that responds to CONNECT with this code. */
function mqtt(code: number): Serve {
  return talking('', (request) => (request.charCodeAt(0) === 0x10 ? Buffer.from([0x20, 2, 0, code]) : null));
}

/** The rotating pattern of RFC 864. */
function chargen(): string {
  const characters = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
  return Array.from(
    { length: 20 },
    (_, line) => `${(characters + characters).slice(line, line + 72)}\r\n`,
  ).join('');
}

const phpError =
  '<b>Fatal error</b>:  Uncaught Error in /var/www/a.php:3 in <b>/var/www/a.php</b> on line <b>3</b>';
const javaTrace = 'java.lang.NullPointerException\n\tat org.example.web.Page.render(Page.java:42)\n';
const jupyter = (token: string) =>
  `<title>JupyterLab</title><script id="jupyter-config-data" type="application/json">{"token": "${token}"}</script>`;

/** By id of the rule. */
export const ruleServices: Readonly<Record<string, RuleServices>> = {
  'ssh-compression-before-login': {
    positive: ssh({ compression: 'none,zlib' }),
    negative: ssh({ compression: 'none,zlib@openssh.com' }),
  },
  'ssh-no-authenticated-encryption': {
    positive: ssh({ ciphers: 'aes256-ctr', macs: 'hmac-sha2-256' }),
    negative: ssh({ ciphers: 'aes256-ctr' }),
  },
  'ssh-no-ed25519-host-key': {
    positive: ssh({ hostKeys: 'rsa-sha2-512' }),
    negative: ssh({ hostKeys: 'rsa-sha2-512,ssh-ed25519' }),
  },
  'ssh-network-device': {
    positive: ssh({ software: 'Cisco-1.25' }),
    negative: ssh({ software: 'dropbear_2025.88' }),
  },
  'ssh-file-transfer-software': { positive: ssh({ software: 'mod_sftp' }), negative: ssh({}) },

  'http-trace-allowed': {
    positive: header('Allow', 'GET, HEAD, TRACE'),
    negative: header('Allow', 'GET, HEAD'),
  },
  'http-webdav': { positive: header('DAV', '1, 2'), negative: header('Allow', 'GET, PUT') },
  'http-cors-null-origin': {
    positive: web({
      headers: { 'Access-Control-Allow-Origin': 'null', 'Access-Control-Allow-Credentials': 'true' },
    }),
    negative: web({
      headers: {
        'Access-Control-Allow-Origin': 'https://a.example',
        'Access-Control-Allow-Credentials': 'true',
      },
    }),
  },
  'http-symfony-profiler': {
    positive: header('X-Debug-Token-Link', '/_profiler/1a2b3c'),
    negative: header('X-Debug', 'off'),
  },
  'http-werkzeug-debugger': {
    positive: titled('KeyError: 1 // Werkzeug Debugger'),
    negative: titled('About the Werkzeug Debugger'),
  },
  'http-django-debug': {
    positive: web({
      status: '404 Not Found',
      body: '<p>You see this because you have <code>DEBUG = True</code> in your settings.',
    }),
    negative: web({ status: '404 Not Found', body: '<p>Set DEBUG = True in your settings.' }),
  },
  'http-php-errors-shown': {
    positive: web({ body: phpError }),
    negative: web({ body: '<b>Fatal error</b>: try again' }),
  },
  'http-phpinfo': {
    positive: titled('PHP 8.2.7 - phpinfo()'),
    negative: titled('How to use phpinfo() safely'),
  },
  'http-stack-trace': {
    positive: web({ status: '500 Oops', body: javaTrace }),
    negative: web({ status: '500 Oops', body: 'at a later time (Page.java)' }),
  },
  'http-session-in-url': {
    positive: web({ status: '302 Found', headers: { Location: '/start;jsessionid=0123456789ABCDEF' } }),
    negative: web({ status: '302 Found', headers: { Location: '/start?side=left' } }),
  },
  'http-downgrade-redirect': {
    positive: secured(web({ status: '302 Found', headers: { Location: 'http://127.0.0.1/' } })),
    negative: web({ status: '302 Found', headers: { Location: 'http://127.0.0.1/' } }),
  },
  'http-digest-md5': {
    positive: web({
      status: '401 Unauthorized',
      headers: { 'WWW-Authenticate': 'Digest realm="a", nonce="b"' },
    }),
    negative: web({
      status: '401 Unauthorized',
      headers: { 'WWW-Authenticate': 'Digest realm="a", nonce="b", algorithm=SHA-256' },
    }),
  },
  'http-ntlm': {
    positive: web({ status: '401 Unauthorized', headers: { 'WWW-Authenticate': 'Negotiate, NTLM' } }),
    negative: web({ status: '401 Unauthorized', headers: { 'WWW-Authenticate': 'Negotiate' } }),
  },
  'http-csp-permissive': {
    positive: header('Content-Security-Policy', "default-src 'self'; script-src 'self' 'unsafe-eval'"),
    negative: header('Content-Security-Policy', "default-src 'self'; img-src *"),
  },
  'http-referrer-unsafe': {
    positive: header('Referrer-Policy', 'unsafe-url'),
    negative: header('Referrer-Policy', 'no-referrer'),
  },
  'http-backend-named': {
    positive: header('X-Backend-Server', 'app-3.internal'),
    negative: header('X-Request-Id', '17'),
  },

  'tls-cert-placeholder': {
    positive: secured(web({}), { commonName: 'localhost' }),
    negative: secured(web({})),
  },
  'tls-cert-internal-names': {
    positive: secured(web({}), { sans: ['www.example.edu', 'build.corp'] }),
    negative: secured(web({}), { sans: ['www.example.edu', 'corp.example.edu'] }),
  },
  'tls-cert-is-authority': { positive: secured(web({}), { ca: true }), negative: secured(web({})) },
  'tls-cert-short-serial': { positive: secured(web({}), { serial: [7] }), negative: secured(web({})) },
  'tls-ticket-lifetime': { positive: secured(web({}), {}, 200_000), negative: secured(web({}), {}, 3600) },

  'database-mysql-native-password': {
    positive: mysql('8.0.36', 'mysql_native_password'),
    negative: mysql('8.0.36', 'caching_sha2_password'),
  },
  'database-mysql-unsupported': {
    positive: mysql('5.7.44', 'caching_sha2_password'),
    negative: mysql('8.4.1', 'caching_sha2_password'),
  },
  'database-mariadb-unsupported': {
    positive: mysql('5.5.5-10.3.39-MariaDB', 'mysql_native_password'),
    negative: mysql('5.5.5-10.11.6-MariaDB', 'mysql_native_password'),
  },
  'database-redis-protected-mode': {
    positive: talking(
      '',
      () => '-DENIED Redis is running in protected mode because protected mode is enabled.\r\n',
    ),
    negative: talking('', () => '-NOAUTH Authentication required.\r\n'),
  },
  'database-couchdb-exposed': {
    positive: web({ headers: { Server: 'CouchDB/3.3.3' }, body: '{"couchdb":"Welcome","version":"3.3.3"}' }),
    negative: web({ body: '{"service":"Welcome"}' }),
  },
  'database-influxdb-exposed': {
    positive: header('X-Influxdb-Version', '1.8.10'),
    negative: header('X-Version', '1.8.10'),
  },
  'database-admin-page': { positive: titled('phpMyAdmin'), negative: titled('Administration') },

  'smtp-no-starttls': {
    positive: smtp('SIZE 10240000', '8BITMIME'),
    negative: smtp('SIZE 10240000', 'STARTTLS'),
  },
  'smtp-login-without-tls': {
    positive: smtp('STARTTLS', 'AUTH PLAIN LOGIN'),
    negative: smtp('STARTTLS', 'AUTH CRAM-MD5'),
  },
  'smtp-address-verification': { positive: smtp('STARTTLS', 'VRFY'), negative: smtp('STARTTLS', 'ETRN') },
  'ftp-no-data-protection': { positive: ftp('AUTH TLS', 'PBSZ'), negative: ftp('AUTH TLS', 'PBSZ', 'PROT') },
  'pop3-no-stls': { positive: pop3('SASL PLAIN'), negative: pop3('STLS') },
  'imap-no-starttls': { positive: imap('AUTH=PLAIN'), negative: imap('STARTTLS', 'LOGINDISABLED') },
  'mqtt-no-auth': { positive: mqtt(0), negative: mqtt(5) },
  'small-services': {
    positive: talking(chargen(), () => null),
    negative: talking('Welcome\r\n', () => null),
  },
  'finger-exposed': {
    positive: talking(
      '',
      () =>
        'Login     Name       Tty      Idle  Login Time   Office\r\nroot      root       tty1       1d  Oct  5 10:00\r\n',
    ),
    negative: talking('', () => 'Welcome\r\n'),
  },
  'cluster-console-open': { positive: titled('Namenode information'), negative: titled('Namenode') },
  'jupyter-no-auth': { positive: web({ body: jupyter('') }), negative: web({ body: jupyter('5f1e') }) },
  'jenkins-open': {
    positive: web({ headers: { 'X-Jenkins': '2.440' }, body: '<title>Dashboard [Jenkins]</title>' }),
    negative: web({
      status: '403 Forbidden',
      headers: { 'X-Jenkins': '2.440' },
      body: '<title>Sign in [Jenkins]</title>',
    }),
  },
};
