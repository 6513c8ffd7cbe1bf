/** The variables of conditions, and what they mean. Each is a value of the whole service. */
export const alertVariables = {
  error_rate: 'fraction of the scans that ended within 15 minutes and failed; 0 if none ended',
  queue_length: 'waiting scans',
  free_space_mb: 'MiB free on the disk of the workspace; of several servers, on the fullest one',
  worker_utilization: 'fraction of the workers that run a scan, 0 to 1; unknown without workers',
  workers_alive: 'workers that accept scans',
  oldest_queued_seconds: 'how long the oldest waiting scan has waited; 0 if none waits',
  scans_failed_15m: 'scans that failed within 15 minutes',
  vulndb_age_days: 'days since the last import or sync of vulnerability data; unknown without one',
} as const;

export type AlertVariable = keyof typeof alertVariables;

/** NaN stands for a value that is unknown now. */
export type AlertValues = Readonly<Record<AlertVariable, number>>;

export const alertVariableNames = Object.keys(alertVariables) as AlertVariable[];

/** Values as JSON has them: NaN and infinities are null. */
export type ShownValues = Partial<Record<AlertVariable, number | null>>;

export function shownValues(values: AlertValues, names: readonly AlertVariable[]): ShownValues {
  return Object.fromEntries(
    names.map((name) => [name, Number.isFinite(values[name]) ? values[name] : null]),
  ) as ShownValues;
}
