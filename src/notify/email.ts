import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection, {
  type SMTPConnectionSendInfo,
  type SMTPEnvelope,
} from 'nodemailer/lib/smtp-connection';
import { isLoopbackHost } from '../config/endpoint.ts';
import type { Config } from '../config/schema.ts';
import { DeliveryFault, faultOf } from './delivery-fault.ts';
import { fitting, shortened } from './fitting.ts';
import { facts, headline, type Notice, pageLink } from './message.ts';

type EmailSettings = Config['notifications']['email'];

/** A mail in wire format. */
interface Mail {
  envelope: SMTPEnvelope;
  text: Buffer;
}

/** Port for implicit TLS (RFC 8314). */
const tlsPort = 465;
/** Maximum length of a subject before encoding, characters. */
const subjectLength = 150;
/** Maximum response of a mail server, bytes. */
const maxReplyBytes = 64 * 1024;

/**
 * @param deliveryId the same in every attempt
 * @returns number of rejected recipients; the mail server accepted the mail for the others
 * @throws DeliveryFault
 */
export async function sendEmail(
  settings: EmailSettings,
  recipients: readonly string[],
  notice: Notice,
  deliveryId: string,
  signal: AbortSignal,
): Promise<number> {
  const mail = await composeMail(settings, recipients, notice, deliveryId);
  const { rejected } = await transmit(settings, mail, signal);
  return rejected.length;
}

async function composeMail(
  { from }: EmailSettings,
  recipients: readonly string[],
  notice: Notice,
  deliveryId: string,
): Promise<Mail> {
  const head = {
    from: oneLine(from ?? ''),
    to: recipients.map(oneLine),
    subject: shortened(headline(notice), subjectLength),
    date: new Date(),
    // Suppresses automatic replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  const envelope = new MailComposer(head).compile().getEnvelope();
  const messageId = `<${deliveryId}@${String(envelope.from).split('@').at(-1)}>`;
  const url = pageLink(notice)?.url ?? null;
  const text = await fitting((shown) => {
    const pairs = facts(notice, shown);
    const content = { text: plainBody(pairs, url), html: htmlBody(head.subject, pairs, url) };
    return new MailComposer({ ...head, messageId, ...content }).compile().build();
  });
  return { envelope, text };
}

function plainBody(pairs: [string, string][], url: string | null): string {
  const lines = pairs.map(([name, value]) => `${name}: ${value}`);
  return `${[...lines, ...(url === null ? [] : [url])].join('\n')}\n`;
}

/** A whole HTML document, for readers that are strict about it. */
export function htmlBody(title: string, pairs: [string, string][], url: string | null): string {
  const link = url === null ? '' : `<p><a href="${escapeHtml(url)}">${escapeHtml(url)}</a></p>\n`;
  const rows = pairs.map(
    ([name, value]) =>
      `<tr><th scope="row" style="text-align:left">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  const start = `<!doctype html>\n<html lang="en">\n<head><title>${escapeHtml(title)}</title></head>\n<body>`;
  return `${start}\n<table>\n${rows.join('\n')}\n</table>\n${link}</body>\n</html>\n`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Prevents header injection: line breaks become spaces. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim();
}

/** One SMTP session. It ends with the signal, whatever the server does. */
async function transmit(
  settings: EmailSettings,
  mail: Mail,
  signal: AbortSignal,
): Promise<SMTPConnectionSendInfo> {
  const connection = new SMTPConnection(connectionOptions(settings));
  const broken = Promise.withResolvers<never>();
  // Stays after the end: an unhandled error event would crash the process.
  connection.on('error', broken.reject);
  connection.on('end', () => broken.reject(new DeliveryFault('connection closed')));
  const giveUp = () => broken.reject(signal.reason);
  signal.addEventListener('abort', giveUp);
  broken.promise.catch(() => undefined);
  try {
    signal.throwIfAborted();
    return await Promise.race([converse(connection, settings, mail), broken.promise]);
  } catch (error) {
    throw faultOf(error);
  } finally {
    signal.removeEventListener('abort', giveUp);
    connection.close();
  }
}

async function converse(
  connection: SMTPConnection,
  settings: EmailSettings,
  { envelope, text }: Mail,
): Promise<SMTPConnectionSendInfo> {
  await told((done) => connection.connect(done));
  await logIn(connection, settings);
  return await new Promise((resolve, reject) => {
    connection.send(envelope, text, (error, info) => {
      if (error) return reject(error);
      // The server has the mail: no need to wait for the response to QUIT.
      connection.quit();
      resolve(info);
    });
  });
}

async function logIn(connection: SMTPConnection, settings: EmailSettings): Promise<void> {
  const { username, password, tls, smtp_server } = settings;
  if (!username || !connection.allowsAuth) return;
  if (!connection.secure && tls !== 'none' && !isLoopbackHost(smtp_server ?? '')) {
    throw new DeliveryFault('the mail server does not offer TLS; refusing to send the password in the clear');
  }
  await told((done) => connection.login({ user: username, pass: password ?? '' }, done));
}

function connectionOptions({ smtp_server, smtp_port: port, tls }: EmailSettings) {
  const host = smtp_server ?? '';
  return {
    host,
    port,
    secure: tls !== 'none' && port === tlsPort,
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'none',
    maxResponseSize: maxReplyBytes,
    // Aborting does not wait for the server.
    socketCloseTimeout: 0,
    // No attacker can intercept loopback, where certificates are usually self-signed.
    tls: { rejectUnauthorized: tls === 'required' || !isLoopbackHost(host) },
  };
}

/** Promise of a call with a callback. */
function told(call: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error) => (error ? reject(error) : resolve()));
  });
}
