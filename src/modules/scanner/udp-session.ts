import { type Banner, describeBytes } from '../../domain/text/banner.ts';
import { withoutRepeats } from '../../knowledge/protocols/repeated-request.ts';
import { udpProbes } from '../../knowledge/requests/udp-probes.ts';
import type { NetworkGate } from '../../net/gate/gate.ts';
import { loopClock } from '../../net/loop-clock.ts';
import { emptyBanner } from './port-connections.ts';

/** Share of event loop delay from which responses may have been missed. */
const lateShare = 0.02;

interface UdpInterviewSettings {
  net: NetworkGate;
  signal: AbortSignal;
  /** Timeout of each response. */
  timeoutMs: number;
  retries: number;
}

/** Factor on timeouts if the first requests timed out. */
const longStretch = 3;

/**
 * Sends the requests of its protocol to an open UDP port, one after the other; one banner per response. Without a
 * response on a delayed machine, all are sent once more with more time; a port that stays silent gets an empty
 * banner.
 */
export async function probeUdpPort(
  { host, port }: { host: string; port: number },
  settings: UdpInterviewSettings,
): Promise<Banner[]> {
  const release = loopClock.use();
  try {
    const first = await sendAll(host, port, settings);
    if (first.banners.length > 0 || !first.late) return first.banners;
    if (settings.retries > 0) {
      const second = await sendAll(host, port, { ...settings, timeoutMs: longStretch * settings.timeoutMs });
      if (second.banners.length > 0 || !second.late) return second.banners;
    }
    return [{ ...emptyBanner({ host, port, protocol: 'udp' }), unidentified_reason: 'timeout' }];
  } finally {
    release();
  }
}

async function sendAll(
  host: string,
  port: number,
  { net, signal, timeoutMs, retries }: UdpInterviewSettings,
): Promise<{ banners: Banner[]; late: boolean }> {
  const banners: Banner[] = [];
  const startedAt = performance.now();
  const lostBefore = loopClock.lostMs;
  let missed = false;
  for (const { name, bytes, looksLike } of udpProbes(port)) {
    if (signal.aborted) break;
    const request = typeof bytes === 'function' ? bytes(host) : bytes;
    if (!request) continue;
    const response = await net.askUdp(host, port, request, { timeoutMs, retries, signal, looksLike });
    missed ||= response === null;
    if (!response) continue;
    const said = { ...describeBytes(response), probe: name, truncated: false, partial: false };
    banners.push({
      host,
      port,
      protocol: 'udp',
      ...said,
      ...exchangeOf(Buffer.from(request), Buffer.from(response)),
    });
  }
  const share = (loopClock.lostMs - lostBefore) / Math.max(1, performance.now() - startedAt);
  return { banners, late: missed && !signal.aborted && share >= lateShare };
}

/** The request is recorded where its response repeats it. */
function exchangeOf(request: Buffer, response: Buffer): Pick<Banner, 'exchange'> {
  if (withoutRepeats(response, [request]) === response) return {};
  return { exchange: [{ sent_b64: request.toString('base64'), received_b64: '' }] };
}
