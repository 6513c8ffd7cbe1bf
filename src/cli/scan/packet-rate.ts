import { InvalidArgumentError, Option } from 'commander';
import type { PacketRate } from '../../domain/packet-rate.ts';

/** Highest rate that a scan can request, packets per second. */
const maxRate = 10_000_000;

export function rateOption(description = 'packets per second, or auto'): Option {
  return new Option('-r, --rate <n>', description).argParser(packetRate);
}

/** @throws InvalidArgumentError */
function packetRate(text: string): PacketRate {
  if (text === 'auto') return text;
  const value = /^\d{1,8}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= maxRate) return value;
  throw new InvalidArgumentError(`It must be auto, or a whole number from 1 to ${maxRate}.`);
}
