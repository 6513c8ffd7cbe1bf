import { Option } from 'commander';
import type { CreatedToken } from '../../actions/access/create-token.ts';
import type { TokenSummary } from '../../actions/access/list-tokens.ts';
import { PortolanError } from '../../domain/errors.ts';
import { withStore } from '../session/session.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { usage } from '../terminal/failure.ts';
import { commaList, type GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { formatOption, listFormatOption } from '../terminal/output-options.ts';

interface CreateFlags {
  name: string;
  scopes: string;
  expiry?: string;
  expires?: string;
  tenant?: string;
  format: string;
}

/** Reads and writes tokens directly in the store; a running server sees changes within 2 s. */
export function addTokenCommand(server: CliCommand): void {
  const token = server.command('token').description('create and manage API tokens on this machine');
  token
    .command('create')
    .description('create a token; its value is printed once')
    .requiredOption('--name <name>', 'purpose of the token')
    .requiredOption('--scopes <list>', 'comma-separated scopes, e.g. scan:read,scan:write')
    .option('--expiry <duration>', 'lifetime, e.g. 90d; default: no expiry')
    .addOption(new Option('--expires <duration>', 'same as --expiry').hideHelp())
    .option('--tenant <tenant>', 'restrict the token to this tenant')
    .addOption(formatOption())
    .runs(() => create);
  token
    .command('list')
    .description('list all tokens without their values')
    .addOption(listFormatOption())
    .runs(() => list);
  token
    .command('revoke')
    .description('revoke a token permanently')
    .argument('<token_id>', 'id from the list')
    .option('--force', 'also the last active token with the scope admin')
    .runs(() => revoke);
  token
    .command('rotate')
    .description('replace the value of a token; the old value stops working')
    .argument('<token_id>', 'id from the list')
    .option('--grace <duration>', 'keep the old value valid for this time')
    .runs(() => rotate);
  token
    .command('verify')
    .description('check a token from stdin (or SERVICE_API_TOKEN): exit 0 if valid, else 5')
    .runs(() => verify);
}

async function create(flags: CreateFlags, global: GlobalFlags): Promise<void> {
  const [{ createToken }, { recordChange }] = await Promise.all([
    import('../../actions/access/create-token.ts'),
    import('./audit-change.ts'),
  ]);
  const scopes = commaList(flags.scopes);
  const expiry = flags.expiry ?? flags.expires ?? null;
  const tenant = flags.tenant ?? null;
  const details = { name: flags.name.slice(0, 100), scopes };
  const created = await withStore(global, (session) =>
    recordChange(
      session,
      { operation: 'token.create', tenant, details },
      () => {
        const tenants = session.config.multi_tenant;
        return createToken(session.store, { name: flags.name, scopes, expiry, tenant, tenants });
      },
      ({ record }) => ({ id: record.id, details: { ...details, expires_at: record.expires_at } }),
    ),
  );
  if (flags.format === 'json') print(createdJson(created));
  else printCreated(created);
}

/** Everything but the digests; the value is here only. */
function createdJson({ token, record, warnings }: CreatedToken): string {
  const { id, name, scopes, tenant, created_at, expires_at } = record;
  return printableJson({ id, name, scopes, tenant, created_at, expires_at, token, warnings });
}

function printCreated({ token, record, warnings }: CreatedToken): void {
  for (const warning of warnings) note(`warning: ${warning}`);
  const until = record.expires_at ? `until ${record.expires_at}` : 'no expiry';
  note(
    `token ${record.id} (${printable(record.name)}) for ${record.scopes.join(', ')}${record.tenant ? `, tenant ${record.tenant}` : ''}, ${until}; shown only once:`,
  );
  print(`${token}\n`);
}

async function list({ format }: { format: string }, global: GlobalFlags): Promise<void> {
  const { listTokens } = await import('../../actions/access/list-tokens.ts');
  const tokens = await withStore(global, ({ store }) => listTokens(store));
  if (format === 'json') print(printableJson({ tokens }));
  else if (format === 'csv') {
    const { renderRows } = await import('../terminal/draw/columns.ts');
    print(renderRows(csvTitles, tokens.map(csvRow)));
  } else if (tokens.length === 0)
    note('no tokens; create one with: portolan server token create --name NAME --scopes LIST');
  else {
    const { printTokens } = await import('./token-table.ts');
    printTokens(tokens, global);
  }
}

const csvTitles = ['id', 'name', 'scopes', 'created_at', 'expires_at', 'last_used_at', 'status', 'tenant'];

function csvRow(token: TokenSummary): string[] {
  const { id, name, scopes, created_at, expires_at, last_used_at, status, tenant } = token;
  const times = [created_at, expires_at ?? '', last_used_at ?? ''];
  return [id, name, scopes.join(' '), ...times, status, tenant ?? ''];
}

async function revoke(
  id: string,
  { force = false }: { force?: boolean },
  global: GlobalFlags,
): Promise<void> {
  const [{ revokeToken }, { recordChange }, { requiresTokens }] = await Promise.all([
    import('../../actions/access/revoke-token.ts'),
    import('./audit-change.ts'),
    import('../../config/required-tokens.ts'),
  ]);
  await withStore(global, (session) => {
    const sparesLastAdmin = !force && requiresTokens(session.config);
    const change = { operation: 'token.revoke', id };
    return recordChange(session, change, () => revokeToken(session.store, id, { sparesLastAdmin }));
  });
  note(`token ${printable(id)} revoked`);
}

async function rotate(
  id: string,
  { grace = null }: { grace?: string | null },
  global: GlobalFlags,
): Promise<void> {
  const [{ rotateToken }, { recordChange }] = await Promise.all([
    import('../../actions/access/rotate-token.ts'),
    import('./audit-change.ts'),
  ]);
  const token = await withStore(global, (session) => {
    const change = { operation: 'token.rotate', id, details: { grace } };
    return recordChange(session, change, () => rotateToken(session.store, id, grace));
  });
  note(`token ${printable(id)} has a new value, shown only once:`);
  print(`${token}\n`);
}

async function verify(_flags: object, global: GlobalFlags): Promise<void> {
  const { tokenIdOf, tokenState, verifyToken } = await import('../../actions/access/verify-token.ts');
  const value = (process.env['SERVICE_API_TOKEN'] || (await readLine())).trim();
  if (value === '') throw usage('no token: pass it on stdin or in SERVICE_API_TOKEN');
  const now = new Date();
  const record = await withStore(global, async ({ store }) => {
    const id = tokenIdOf(value);
    return id === null ? null : store.tokens.find(id);
  });
  if (!record || !verifyToken(value, record, now)) {
    const why = record && tokenState(record, now) !== 'active' ? tokenState(record, now) : 'unknown';
    throw new PortolanError('unauthorized', `invalid token: ${why}`);
  }
  const { id, name, scopes, expires_at } = record;
  print(printableJson({ token_id: id, name, scopes, tenant: record.tenant, expires_at }));
}

/** The first line of stdin; a token is far shorter than 4 KiB. */
async function readLine(): Promise<string> {
  let text = '';
  for await (const part of process.stdin) {
    text += String(part);
    if (text.includes('\n') || text.length > 4096) break;
  }
  return text.split('\n')[0] ?? '';
}
