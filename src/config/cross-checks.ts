import { daysProblem, freezeProblem, freezeTimeProblem, hoursProblem } from '../domain/time/scan-calendar.ts';
import { isMap, type Setting, type SettingMap } from './value.ts';

/** Paths that the server itself serves. */
const reservedPaths = ['/api', '/health', '/healthz', '/livez', '/readyz', '/metrics'];

/** Constraints across keys. A default adapts to a value that was set; any other conflict is a problem. */
export function checkTogether(settings: SettingMap, problems: string[]): void {
  const check = new CrossCheck(settings, problems);
  check.keepBelow('scanner.rate', 'scanner.max_rate', (limit) => limit);
  check.keepBelow('workers.heartbeat', 'workers.lease', (limit) => Math.max(100, Math.floor(limit / 3)));
  check.raise('workers.max', 'server.workers');
  check.keepBelow('workers.min', 'workers.max', (limit) => limit);
  check.require('server.tls.enabled', ['server.tls.cert_file', 'server.tls.key_file']);
  check.require('license.enforce', ['license.public_key']);
  check.requireFor('workspace.result_store.url', 's3://', [
    'workspace.result_store.s3.endpoint',
    'workspace.result_store.s3.access_key',
    'workspace.result_store.s3.secret_key',
  ]);
  check.requireListed('multi_tenant.default_tenant', 'multi_tenant.tenants');
  check.keepApart('server.ui.path', reservedPaths);
  check.checkEntries('scanner.windows', windowProblems);
  check.checkEntries('scanner.freeze', freezeProblems);
  check.requireWebhooks('notifications.rules', 'notifications.webhooks');
}

/** Clamps the number of workers to its bounds. */
export function clampWorkers(settings: SettingMap, warnings: string[]): void {
  const workers = settings.get('server.workers') as Setting;
  const [least, most] = ['workers.min', 'workers.max'].map((path) => Number(settings.get(path)?.value));
  const fitting = Math.min(Math.max(Number(workers.value), least as number), most as number);
  if (fitting === workers.value) return;
  if (workers.origin !== 'default') {
    warnings.push(
      `${workers.origin} server.workers: ${workers.value} is outside of workers.min and workers.max; using ${fitting}`,
    );
  }
  settings.set('server.workers', { ...workers, value: fitting });
}

/** The URL is a secret: whoever has it can post as this server. */
export function warnOfPlainSlack(settings: SettingMap, warnings: string[]): void {
  const path = 'notifications.slack.webhook_url';
  const { value, origin } = settings.get(path) as Setting;
  if (String(value ?? '').startsWith('http:')) {
    warnings.push(`${origin} ${path}: plain http sends messages and the URL itself in the clear`);
  }
}

/** A problem of one member of an entry; null members were reported before. */
type MemberProblem = [member: string, reason: string];

function windowProblems({ days, hours }: Readonly<Record<string, string | null>>): MemberProblem[] {
  return problemsOf({ days: days && daysProblem(days), hours: hours && hoursProblem(hours) });
}

function freezeProblems({ from, to, zone }: Readonly<Record<string, string | null>>): MemberProblem[] {
  const found = problemsOf({ from: from && freezeTimeProblem(from), to: to && freezeTimeProblem(to) });
  if (found.length > 0 || !from || !to || !zone) return found;
  return problemsOf({ to: freezeProblem({ from, to, zone, reason: null }) });
}

function problemsOf(reasons: Record<string, string | null | undefined>): MemberProblem[] {
  return Object.entries(reasons).flatMap(([member, reason]) => (reason ? [[member, reason]] : []));
}

class CrossCheck {
  readonly #settings: SettingMap;
  readonly #problems: string[];

  constructor(settings: SettingMap, problems: string[]) {
    this.#settings = settings;
    this.#problems = problems;
  }

  /** @param fitting the value of a default that exceeds the limit */
  keepBelow(path: string, limitPath: string, fitting: (limit: number) => number): void {
    const { value, origin } = this.#get(path);
    const limit = this.#get(limitPath);
    // A word is no number, and no problem.
    if (!(Number(value) > Number(limit.value))) return;
    if (origin === 'default') this.#settings.set(path, { value: fitting(Number(limit.value)), origin });
    else this.#problem(path, `must not be above ${limitPath} (${limit.value}, ${limit.origin})`);
  }

  /** Raises a default limit to the value that was set. */
  raise(limitPath: string, path: string): void {
    const limit = this.#get(limitPath);
    const value = Math.max(Number(limit.value), Number(this.#get(path).value));
    if (limit.origin === 'default') this.#settings.set(limitPath, { ...limit, value });
  }

  require(path: string, needed: string[]): void {
    if (this.#get(path).value === true) this.#requireAll(path, needed);
  }

  /** Keys that a value with this prefix requires. */
  requireFor(path: string, beginning: string, needed: string[]): void {
    if (String(this.#get(path).value ?? '').startsWith(beginning)) this.#requireAll(path, needed);
  }

  #requireAll(path: string, needed: string[]): void {
    const missing = needed.filter((name) => (this.#get(name).value ?? '') === '');
    if (missing.length > 0) this.#problem(path, `needs ${missing.join(' and ')}`);
  }

  requireListed(path: string, listPath: string): void {
    const { value } = this.#get(path);
    const listed = this.#get(listPath).value as readonly string[];
    if (value === null || listed.includes(String(value))) return;
    this.#problem(
      path,
      `${JSON.stringify(value)} is not one of ${listPath} (${listed.join(', ') || 'empty'})`,
    );
  }

  keepApart(path: string, taken: string[]): void {
    const own = String(this.#get(path).value).toLowerCase();
    const hit = taken.find((name) => own.includes(name));
    if (hit !== undefined)
      this.#problem(path, `must not equal or contain ${hit}, which the server itself serves`);
  }

  /** Checks that involve several members of an entry. */
  checkEntries(
    path: string,
    problemsOf: (entry: Readonly<Record<string, string | null>>) => MemberProblem[],
  ): void {
    const { value } = this.#get(path);
    const zone = this.#get('queue.timezone').value;
    for (const [index, entry] of (Array.isArray(value) ? value : []).entries()) {
      if (!isMap(entry)) continue;
      const whole = { ...entry, zone: entry['zone'] ?? zone } as Record<string, string | null>;
      for (const [member, reason] of problemsOf(whole))
        this.#problem(`${path}[${index}].${member}`, reason, path);
    }
  }

  /** Webhooks that entries name as channels. */
  requireWebhooks(path: string, webhooksPath: string): void {
    const entries = (key: string) => {
      const { value } = this.#get(key);
      return (Array.isArray(value) ? value : []).map((entry) => (isMap(entry) ? entry : {}));
    };
    const known = entries(webhooksPath).map(({ name }) => `webhook://${String(name)}`);
    for (const [index, { channels }] of entries(path).entries())
      for (const channel of Array.isArray(channels) ? channels.map(String) : [])
        if (channel.startsWith('webhook://') && !known.includes(channel))
          this.#problem(`${path}[${index}].channels`, `${channel} is not one of ${webhooksPath}`, path);
  }

  #get(path: string): Setting {
    return this.#settings.get(path) as Setting;
  }

  #problem(path: string, reason: string, key = path): void {
    this.#problems.push(`${this.#get(key).origin} ${path}: ${reason}`);
  }
}
