/**
 * Milliseconds of CLOCK_MONOTONIC, shared by all processes of this machine. Meaningless on another machine and after
 * a reboot.
 */
export function machineNow(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
