import { type Banner, describeBytes } from '../../domain/banner.ts';
import { udpQuestions } from '../../knowledge/udp-questions.ts';
import type { NetworkGate } from '../../net/gate.ts';

interface UdpInterviewSettings {
  net: NetworkGate;
  signal: AbortSignal;
  /** How long each answer is waited for. */
  timeoutMs: number;
  retries: number;
}

/** Asks an open UDP port the questions of its protocol, one after the other; a banner for each that was answered. */
export async function questionUdpPort(
  { host, port }: { host: string; port: number },
  { net, signal, timeoutMs, retries }: UdpInterviewSettings,
): Promise<Banner[]> {
  const banners: Banner[] = [];
  for (const { name, bytes, looksLike } of udpQuestions(port)) {
    if (signal.aborted) break;
    const question = typeof bytes === 'function' ? bytes(host) : bytes;
    if (!question) continue;
    const answer = await net.askUdp(host, port, question, { timeoutMs, retries, signal, looksLike });
    if (!answer) continue;
    const said = { ...describeBytes(answer), probe: name, truncated: false, partial: false };
    banners.push({ host, port, protocol: 'udp', ...said });
  }
  return banners;
}
