import { createSocket } from 'node:dgram';
import { onAbort } from '../abort.ts';
import type { SocketEgress } from '../egress.ts';
import type { UdpProbeOptions } from '../gate/gate.ts';
import type { PauseGate } from '../gate/pause-gate.ts';
import { loopClock } from '../loop-clock.ts';
import { boundSocket } from '../packets/linux/bind-socket.ts';

/** Bytes kept of one response. */
const keptBytes = 4096;

interface Sending {
  egress: SocketEgress | null;
  door: PauseGate;
  /** A token for one more packet; false if nothing may be sent any more. */
  again(): Promise<boolean>;
}

/**
 * Sends one datagram, with retries, and waits for a response from exactly the endpoint it went to.
 * @param host canonical address @returns null = silence, an ICMP error, or nothing that fits
 */
export async function requestUdp(
  host: string,
  port: number,
  request: Uint8Array,
  { timeoutMs, retries, signal, looksLike, door, again, egress }: UdpProbeOptions & Sending,
): Promise<Buffer | null> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const tries = retries + 1;
  let forgetTry: () => void = () => undefined;
  let over = false;
  try {
    return await new Promise<Buffer | null>((resolve) => {
      const stop = () => resolve(null);
      const forgetAbort = onAbort(signal, stop);
      const forgetDoor = door.onChange((held) => held && stop());
      socket.once('close', () => {
        forgetAbort();
        forgetDoor();
      });
      socket.on('error', stop);
      socket.on('message', (response) => {
        if (looksLike(response)) resolve(response.subarray(0, keptBytes));
      });
      const send = (left: number): void => {
        socket.send(request, (error) => error && stop());
        forgetTry = loopClock.after(timeoutMs / tries, () => {
          if (left === 0) stop();
          else void again().then((may) => (may && !over ? send(left - 1) : stop()), stop);
        });
      };
      try {
        if (egress) socket.bind({ fd: boundSocket('datagram', egress) });
      } catch {
        return stop();
      }
      socket.connect(port, host, (error?: Error) => {
        if (error || over) stop();
        else send(tries - 1);
      });
    });
  } finally {
    over = true;
    forgetTry();
    socket.close();
  }
}
