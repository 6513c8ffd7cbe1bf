/**
 * Milliseconds of the clock that all processes of this machine share and that nobody sets (CLOCK_MONOTONIC). It has no
 * meaning on another machine, nor after a restart of this one.
 */
export function machineNow(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
