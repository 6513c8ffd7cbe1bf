import { createServer } from 'node:net';
import pg from 'pg';

/** Runs in a network namespace and does what the test asks for: requests, questions to the database, listeners. */
type Order = { id: number } & (
  | { kind: 'http'; method: string; url: string; body?: unknown }
  | { kind: 'sql'; url: string; text: string }
  | { kind: 'listen'; ports: number[] }
);

async function obey(order: Order): Promise<unknown> {
  switch (order.kind) {
    case 'http': {
      const headers = { 'content-type': 'application/json' };
      const body = order.body === undefined ? null : JSON.stringify(order.body);
      const response = await fetch(order.url, { method: order.method, headers, body });
      return { status: response.status, text: await response.text() };
    }
    case 'sql': {
      const client = new pg.Client({ connectionString: order.url });
      await client.connect();
      try {
        return (await client.query(order.text)).rows;
      } finally {
        await client.end();
      }
    }
    case 'listen':
      await Promise.all(order.ports.map(listen));
      return null;
  }
}

/** A service that greets as SSH does. */
function listen(port: number): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7\r\n');
  });
  return new Promise((resolve) => server.listen(port, '0.0.0.0', () => resolve()));
}

process.on('message', (message) => {
  const order = message as Order;
  obey(order).then(
    (result) => process.send?.({ id: order.id, result }),
    (error: unknown) => process.send?.({ id: order.id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
