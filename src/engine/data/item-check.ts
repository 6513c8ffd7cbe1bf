import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { classOf, type HostFinding, plainAction } from '../../domain/finding.ts';
import { formatAddress, parseAddress } from '../../domain/targets/address.ts';
import type { AddressSet } from '../../domain/targets/address-set.ts';
import { isStandardKey, type StandardKey } from './data-keys.ts';
import { itemSchemas } from './item-schemas.ts';
import { itemProblem } from './item-shape.ts';

/** An item that a plugin may not publish; its node fails. */
export class InvalidItemError extends Error {
  /** @param index position of the item among all that the node published under the key, from 0 */
  constructor(key: string, index: number, problem: string) {
    super(`item ${index} of "${key}" ${problem}`);
    this.name = 'InvalidItemError';
  }
}

export interface ItemCheckOptions {
  /** Name of the module type. */
  module: string;
  /** Of the scan; items about other hosts are dropped. */
  addresses: AddressSet;
  warn(code: string, message: string): void;
}

/** Longest name of a field in a message, characters. */
const maxShownName = 100;

type Item = Record<string, unknown>;

/** Checks what a plugin publishes, before anything of it reaches another node or the record. */
export class ItemCheck {
  readonly #options: ItemCheckOptions;
  /** Items so far, by key. */
  readonly #counts = new Map<string, number>();
  /** The last address and what it was written as; null = outside of the scan. Hosts come in runs. */
  #host: { text: string; address: string | null } = { text: '', address: null };

  constructor(options: ItemCheckOptions) {
    this.#options = options;
  }

  /**
   * The items to publish: complete, without unknown fields and without those about hosts outside of the scan.
   * @throws InvalidItemError
   */
  accept(key: string, items: readonly unknown[]): unknown[] {
    const first = this.#counts.get(key) ?? 0;
    this.#counts.set(key, first + items.length);
    return items.flatMap((item, position) => this.#accepted(key, item, first + position));
  }

  /** The item alone, or nothing if it is dropped. Nested objects are completed in place. */
  #accepted(key: string, item: unknown, index: number): unknown[] {
    const reject = (problem: string) => new InvalidItemError(key, index, problem);
    const problem = itemProblem(item);
    if (problem !== null) throw reject(problem);
    if (!isStandardKey(key)) return this.#isInside(item) ? [item] : [];
    if (typeof item !== 'object' || item === null || Array.isArray(item)) throw reject('is not an object');
    const record = { ...item } as Item;
    this.#complete(key, record);
    this.#dropUnknown(key, record);
    const validate = validatorOf(key);
    if (!validate(record)) throw reject(reasonOf(validate.errors?.[0]));
    if (key === 'vulnerabilities') completeFinding(record);
    return key === 'targets' || this.#isOfScan(key, record, reject) ? [record] : [];
  }

  /** What every item of this module has in common. */
  #complete(key: StandardKey, item: Item): void {
    const { module } = this.#options;
    if (key === 'vulnerabilities') item['plugin'] = module;
    const named = namedAfterModule[key];
    if (named !== undefined) item[named] ??= module;
  }

  #dropUnknown(key: StandardKey, item: Item): void {
    const { properties } = itemSchemas[key];
    for (const name of Object.keys(item)) {
      if (Object.hasOwn(properties, name)) continue;
      delete item[name];
      const message = `${this.#options.module} sets fields that items of "${key}" do not have, such as "${name.slice(0, maxShownName)}": dropped`;
      this.#options.warn(`unknown_field_${key}`, message);
    }
  }

  #isOfScan(key: StandardKey, item: Item, reject: (problem: string) => Error): boolean {
    const name = key === 'discovered_hosts' ? 'ip' : 'host';
    const text = item[name];
    if (typeof text !== 'string') return true;
    const address = this.#addressOf(text);
    if (address !== null) item[name] = address;
    else if (parseAddress(text) === null) throw reject(`has a ${name} that is not an IP address`);
    return address !== null || this.#drop(text);
  }

  /** An item of a key without schema: about a host only if it names one in the usual way. */
  #isInside(item: unknown): boolean {
    if (typeof item !== 'object' || item === null) return true;
    const { host, ip } = item as Item;
    const text = host ?? ip;
    if (typeof text !== 'string' || parseAddress(text) === null) return true;
    return this.#addressOf(text) !== null || this.#drop(text);
  }

  #drop(host: string): false {
    const message = `${this.#options.module} published results about hosts that are not addresses of the scan, such as ${host}: dropped`;
    this.#options.warn('result_out_of_scope', message);
    return false;
  }

  /** The canonical form of an address of the scan; null for everything else. */
  #addressOf(text: string): string | null {
    if (this.#host.text !== text) {
      const parsed = parseAddress(text);
      const inside = parsed !== null && this.#options.addresses.hasAddress(parsed);
      this.#host = { text, address: inside ? formatAddress(parsed) : null };
    }
    return this.#host.address;
  }
}

/** Fields that say who observed something. */
const namedAfterModule: Partial<Record<StandardKey, string>> = {
  discovered_hosts: 'method',
  banners: 'probe',
  parsed_services: 'parser',
  service_fingerprints: 'source',
};

function completeFinding(item: Item): void {
  const finding = item as unknown as HostFinding;
  finding.protocol = finding.port === null ? null : (finding.protocol ?? 'tcp');
  finding.class = classOf(finding);
  if (finding.action) finding.action = { ...plainAction(finding.action.text), ...finding.action };
}

/** Nested fields that no schema names are removed, missing ones get their defaults. */
const ajv = new Ajv2020({ strict: false, strictNumbers: true, removeAdditional: true, useDefaults: true });
const validators = new Map<StandardKey, ValidateFunction>();

function validatorOf(key: StandardKey): ValidateFunction {
  let validate = validators.get(key);
  if (!validate) {
    validate = ajv.compile(itemSchemas[key]);
    validators.set(key, validate);
  }
  return validate;
}

function reasonOf(error: ErrorObject | undefined): string {
  if (!error) return 'is invalid';
  const { instancePath, keyword, params, message = 'is invalid' } = error;
  if (keyword === 'required') return `has no "${String(params['missingProperty'])}"${within(instancePath)}`;
  const field = instancePath.slice(1).replaceAll('/', '.').slice(0, maxShownName);
  const allowed = keyword === 'enum' ? `: ${(params['allowedValues'] as unknown[]).join(', ')}` : '';
  return `has a bad "${field}": it ${message}${allowed}`;
}

function within(path: string): string {
  return path === '' ? '' : ` in "${path.slice(1).replaceAll('/', '.').slice(0, maxShownName)}"`;
}
