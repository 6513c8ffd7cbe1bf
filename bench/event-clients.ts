/** A process with clients of the event stream, each with a connection of its own; started by bench/ui-clients.ts. */
import { request } from 'node:http';

export interface EventClientsOrder {
  /** Of the stream, with its search. */
  url: string;
  /** One client each. */
  tokens: string[];
}

/** What all clients together received. */
export interface EventClientsReport {
  open: number;
  rejected: number;
  events: number;
  bytes: number;
}

const report: EventClientsReport = { open: 0, rejected: 0, events: 0, bytes: 0 };

function follow(url: string, token: string): void {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
  request(url, { headers, agent: false }, (response) => {
    if (response.statusCode !== 200) report.rejected += 1;
    else report.open += 1;
    response.on('data', (part: Buffer) => {
      report.bytes += part.length;
      report.events += endsIn(part);
    });
    response.on('error', () => undefined);
    response.once('close', () => {
      if (response.statusCode === 200) report.open -= 1;
    });
  })
    .on('error', () => {
      report.rejected += 1;
    })
    .end();
}

/** Blank lines, each the end of an event. */
function endsIn(part: Buffer): number {
  let ends = 0;
  for (let at = part.indexOf('\n\n'); at >= 0; at = part.indexOf('\n\n', at + 2)) ends += 1;
  return ends;
}

process.on('message', (order: EventClientsOrder | 'report') => {
  if (order === 'report') process.send?.(report);
  else for (const token of order.tokens) follow(order.url, token);
});
process.once('disconnect', () => process.exit());
