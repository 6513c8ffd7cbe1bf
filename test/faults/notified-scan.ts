import type { ServerProcess } from '../program.ts';
import type { HttpReceiver } from '../receivers.ts';

export interface Channel {
  channel: string;
  status: string;
  attempts: number;
  error: string | null;
}

/** A scan that ends at once. */
export const smallScan = { targets: ['127.0.0.1'], ports: [9], options: { discover: false } };

export async function channelsOf(server: ServerProcess, scanId: string): Promise<Channel[]> {
  return ((await server.detail(scanId)) as unknown as { notifications: Channel[] }).notifications;
}

/** How many tries came of each message. */
export function deliveries({ received }: HttpReceiver): number[] {
  const tries = new Map<unknown, number>();
  for (const { headers } of received) {
    const id = headers['x-service-delivery'];
    tries.set(id, (tries.get(id) ?? 0) + 1);
  }
  return [...tries.values()];
}
