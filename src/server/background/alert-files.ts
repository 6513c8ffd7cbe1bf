import { existsSync } from 'node:fs';
import type { LoadedConfig } from '../../config/load.ts';

/**
 * Files with alert rules that this build ignores: the one that `alerts.file` names, there or not, and those in the
 * places where one is looked for.
 */
export function ignoredAlertFiles({
  config,
  alertFiles,
}: Pick<LoadedConfig, 'config' | 'alertFiles'>): string[] {
  const { file } = config.alerts;
  const found = alertFiles.filter((path) => path === file || existsSync(path));
  return [...new Set(found)];
}

export function alertWarning(path: string): string {
  return `${path}: alert rules have no effect in this build, no notifications are sent`;
}
