import { createServer, type Server, type Socket } from 'node:net';

/** What an endpoint sends: at once, or in response to a request. */
type Speech = { greeting: string } | { page: string; server: string };

/** Hosts of a small office on loopback: real listeners for the scans of the pictures. Ports below 1024 need root. */
const office: Record<string, Record<number, Speech>> = {
  '127.0.42.10': {
    22: { greeting: 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n' },
    25: { greeting: '220 mail.example.net ESMTP Exim 4.94\r\n' },
    80: { server: 'nginx/1.18.0', page: '<title>Webmail</title>' },
    143: { greeting: '* OK [CAPABILITY IMAP4rev1 STARTTLS LOGINDISABLED] Dovecot (Debian) ready.\r\n' },
  },
  '127.0.42.11': {
    22: { greeting: 'SSH-2.0-OpenSSH_8.9p1 Ubuntu-3ubuntu0.1\r\n' },
    80: { server: 'Apache/2.4.49 (Unix)', page: '<title>Intranet</title>' },
    8080: { server: 'Apache-Coyote/1.1', page: '<title>Apache Tomcat/9.0.30</title>' },
  },
  '127.0.42.12': {
    21: { greeting: '220 (vsFTPd 2.3.4)\r\n' },
    22: { greeting: 'SSH-2.0-OpenSSH_7.2p2 Ubuntu-4ubuntu2.1\r\n' },
    6379: { greeting: '-NOAUTH Authentication required.\r\n' },
  },
  '127.0.42.13': {
    80: { server: 'nginx/1.24.0', page: '<title>Printer in the hall</title>' },
    9999: { greeting: '' },
  },
};

/** All of the office, as a scan names it. */
export const officeTargets = '127.0.42.10-13';
/** Its ports and some closed ones. */
export const officePorts = '1-1024,3000,3306,5432,6379,8080,8443,9999';

/** Open ports by host, those of `without` left out. @returns what closes them */
export async function openOffice(without: readonly string[] = []): Promise<() => void> {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  for (const [host, ports] of Object.entries(office)) {
    for (const [port, speech] of Object.entries(ports)) {
      if (without.includes(`${host}:${port}`)) continue;
      const server = createServer((socket) => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket)).on('error', () => undefined);
        speak(socket, speech);
      });
      servers.push(server);
      await new Promise<void>((resolve, reject) =>
        server.once('error', reject).listen(Number(port), host, resolve),
      );
    }
  }
  return () => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  };
}

function speak(socket: Socket, speech: Speech): void {
  if ('greeting' in speech) {
    if (speech.greeting !== '') socket.write(speech.greeting);
    return;
  }
  const head = `HTTP/1.1 200 OK\r\nServer: ${speech.server}\r\nContent-Type: text/html\r\nContent-Length: ${speech.page.length}`;
  socket.once('data', () => socket.end(`${head}\r\nConnection: close\r\n\r\n${speech.page}`));
}
