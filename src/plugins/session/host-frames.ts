import type { HostCall, HostNotice } from '../host/messages.ts';
import { shown } from './node-notices.ts';

type Fields = Record<string, unknown>;

const levels = ['debug', 'info', 'warn', 'error'];
/** Items of one call: eight batches. */
const maxItems = 1024;

/** A call or notice of a host. @throws Error if it is none: a plugin shares the process with what writes frames */
export function readHostMessage(message: unknown): HostCall | HostNotice {
  const fields = message as Fields;
  if (typeof message !== 'object' || message === null || typeof fields['node'] !== 'string') {
    throw new Error('a message that is none of a plugin host');
  }
  const { op } = fields;
  const check = typeof op === 'string' && Object.hasOwn(shapes, op) ? shapes[op] : undefined;
  if (!check?.(fields)) throw new Error('a message that is none of a plugin host');
  return fields as unknown as HostCall | HostNotice;
}

/** The value of a response. @throws Error with the text of the plugin */
export function responseValue(message: unknown): unknown {
  const { error, value } = message as Fields;
  if (error === undefined) return value;
  throw new Error(typeof error === 'string' ? shown(error) : 'it failed without a text');
}

const shapes: Record<string, (fields: Fields) => boolean> = {
  pull: (fields) => isCall(fields) && typeof fields['complete'] === 'boolean',
  append: (fields) => isCall(fields) && Array.isArray(fields['items']) && fields['items'].length <= maxItems,
  set: (fields) => isCall(fields) && fields['value'] !== undefined,
  net: (fields) =>
    isNumber(fields['call']) && typeof fields['request'] === 'object' && fields['request'] !== null,
  log: ({ level, message }) => levels.includes(level as string) && typeof message === 'string',
  progress: ({ done, total }) => isCount(done) && (total === undefined || isCount(total)),
  warn: ({ code, message, target }) =>
    typeof code === 'string' &&
    typeof message === 'string' &&
    (target === undefined || typeof target === 'string'),
};

function isCall({ call, key }: Fields): boolean {
  return isNumber(call) && typeof key === 'string';
}

function isNumber(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
