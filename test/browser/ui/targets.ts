import type { Listeners } from '../../cli/listeners.ts';

/** Texts that a target may send to attack its reader. Each has `hostile` in it. */
export const hostileTexts = {
  markup: '<img src=x onerror=alert(1)><script>alert("hostile")</script>',
  direction: 'hostile \u202egnp.exe\u202c \u2066\u200f',
  controls: 'hostile \u001b[31mred\u0007\u0000\b',
  formula: '=cmd|"/c hostile"!A1',
  long: `hostile ${'long '.repeat(2000)}`,
} as const;

/** Ports of services on 127.0.0.1 by what they are. */
export interface Targets {
  /** OpenSSH of a vulnerable version. */
  ssh: number;
  /** nginx that states an old version. */
  web: number;
  /** Apache with a traversal that is exploited. */
  exploited: number;
  ftp: number;
  /** Its title, headers and banner attack the reader. */
  hostile: number;
}

/** Real listeners for real scans; they end with `listeners.close()`. */
export async function openTargets(listeners: Listeners): Promise<Targets> {
  return {
    ssh: await listeners.greet('SSH-2.0-OpenSSH_8.9p1 Ubuntu-3ubuntu0.1\r\n'),
    web: await openWeb(listeners, 'nginx/1.18.0', '<title>Berlin office</title>'),
    exploited: await openWeb(listeners, 'Apache/2.4.49 (Unix)', '<title>It works!</title>'),
    ftp: await listeners.greet('220 (vsFTPd 2.3.4)\r\n'),
    hostile: await openWeb(
      listeners,
      `hostile${hostileTexts.markup}`,
      `<title>${escaped(hostileTexts.markup)} ${hostileTexts.direction} ${hostileTexts.long}</title>`,
    ),
  };
}

function openWeb(listeners: Listeners, server: string, page: string): Promise<number> {
  const length = Buffer.byteLength(page);
  const head = `HTTP/1.1 200 OK\r\nServer: ${server}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: ${length}`;
  return listeners.serve((socket) =>
    socket.once('data', () => socket.end(`${head}\r\nConnection: close\r\n\r\n${page}`)),
  );
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
