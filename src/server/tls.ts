import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions, type SecureVersion } from 'node:tls';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import type { ServerLog } from './logging/log.ts';

/** A listener whose certificate can be replaced. */
export interface SecureListener {
  setSecureContext(context: SecureContextOptions): void;
}

/** Checked certificate and key of a listener. */
export interface TlsMaterial {
  cert: Buffer;
  key: Buffer;
  minVersion: SecureVersion;
  /** Warnings for the log that do not stop the server. */
  warnings: string[];
}

type TlsConfig = Config['server']['tls'];

const minVersion: SecureVersion = 'TLSv1.2';
/** A certificate chain takes a few kilobytes. */
const maxPemBytes = 1024 * 1024;
const dayMs = 86_400_000;
/** Time before expiry from which a warning is logged, milliseconds. */
const expiryNoticeMs = 14 * dayMs;
const readableByOthers = 0o007;

/**
 * Reads and checks certificate and key.
 * @returns null if TLS is off
 * @throws PortolanError `configuration` if a file is missing or not PEM, the two do not match, or the certificate is
 *   not currently valid
 */
export async function readTls({ enabled, cert_file, key_file }: TlsConfig): Promise<TlsMaterial | null> {
  if (!enabled) return null;
  const cert = await readPem('server.tls.cert_file', cert_file);
  const key = await readPem('server.tls.key_file', key_file);
  const certificate = certificateOf(cert, cert_file);
  checkPair(certificate, keyOf(key, key_file), { cert_file, key_file });
  const warnings = [...validityWarnings(certificate, cert_file), ...(await modeWarnings(key_file))];
  checkContext({ cert, key }, cert_file);
  return { cert, key, minVersion, warnings };
}

/**
 * Prepares the reload of the certificate of all listeners: open connections keep theirs. Nothing changes before the
 * returned function is called, which says which of the two files had another content.
 *
 * @param used the material in force
 * @throws PortolanError `configuration`; the listeners keep their certificate
 */
export async function prepareTlsReload(
  listeners: readonly SecureListener[],
  config: TlsConfig,
  log: ServerLog,
  used: TlsMaterial,
): Promise<(() => string[]) | undefined> {
  const material = await readTls(config);
  if (!material) return undefined;
  const { warnings, ...context } = material;
  return () => {
    for (const warning of warnings) log.warn(warning);
    for (const listener of listeners) listener.setSecureContext(context);
    log.info({ valid_to: new X509Certificate(context.cert).validTo }, 'certificate reloaded');
    const changed = (['cert', 'key'] as const).filter((name) => !context[name].equals(used[name]));
    Object.assign(used, material);
    return changed.map((name) => `server.tls.${name}_file`);
  };
}

async function readPem(key: string, file: string): Promise<Buffer> {
  if (file === '') throw rejection(`${key} is not set, and server.tls.enabled is true`);
  try {
    const { size } = await stat(file);
    if (size > maxPemBytes) throw rejection(`${key}: ${file} is larger than ${maxPemBytes} bytes`);
    return await readFile(file);
  } catch (error) {
    if (error instanceof PortolanError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const reason = { ENOENT: 'no such file', EACCES: 'permission denied' }[code ?? ''] ?? code;
    throw rejection(`${key}: ${file}: ${reason}`, error);
  }
}

function certificateOf(pem: Buffer, file: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw rejection(`server.tls.cert_file: ${file} contains no PEM certificate`, error);
  }
}

function keyOf(pem: Buffer, file: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const encrypted = /ENCRYPTED/.test(pem.toString('latin1'));
    const reason = encrypted ? 'is encrypted; store it without a passphrase' : 'contains no PEM private key';
    throw rejection(`server.tls.key_file: ${file} ${reason}`, error);
  }
}

function checkPair(
  certificate: X509Certificate,
  key: KeyObject,
  { cert_file, key_file }: Omit<TlsConfig, 'enabled'>,
) {
  if (certificate.checkPrivateKey(key)) return;
  throw rejection(
    `server.tls.key_file: ${key_file} is not the key of the certificate in ${cert_file} (server.tls.cert_file)`,
  );
}

/** @throws PortolanError if the certificate is not currently valid */
function validityWarnings({ validFrom, validTo }: X509Certificate, file: string): string[] {
  const now = Date.now();
  const place = `server.tls.cert_file: the certificate in ${file}`;
  if (Date.parse(validFrom) > now) throw rejection(`${place} is not valid before ${validFrom}`);
  const left = Date.parse(validTo) - now;
  if (left <= 0) throw rejection(`${place} expired on ${validTo}`);
  return left < expiryNoticeMs ? [`${place} expires on ${validTo}`] : [];
}

async function modeWarnings(file: string): Promise<string[]> {
  const { mode } = await stat(file);
  if ((mode & readableByOthers) === 0) return [];
  return [`server.tls.key_file: every user of this machine can read ${file}; run chmod 600`];
}

/** Finds what only the TLS library can detect, such as a weak key or a broken chain. */
function checkContext(context: { cert: Buffer; key: Buffer }, file: string): void {
  try {
    createSecureContext({ ...context, minVersion });
  } catch (error) {
    throw rejection(`server.tls.cert_file: ${file} cannot be used: ${(error as Error).message}`, error);
  }
}

function rejection(message: string, cause?: unknown): PortolanError {
  return new PortolanError('configuration', message, {}, cause);
}
