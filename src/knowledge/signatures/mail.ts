import { products } from './product-names.ts';
import { onWindows, rows } from './row.ts';
import type { Signature } from './signature.ts';

const smtp = (certainty: number) => rows('smtp', 'smtp.greeting', certainty);
const imap = rows('imap', 'imap.greeting', 0.97);
const pop3 = rows('pop3', 'pop3.greeting', 0.97);

/** Mail transfer agents and mailbox servers. */
export const mailSignatures: readonly Signature[] = [
  smtp(0.95)(
    'smtp.postfix',
    ...products.postfix,
    String.raw`\bPostfix\b(?: (?P<version>\d+\.\d+(?:\.\d+)*))?(?: \((?P<revision>[^)]+)\))?`,
    [
      {
        text: 'mail.example ESMTP Postfix (Debian/GNU)',
        version: null,
        cpe: 'cpe:2.3:a:postfix:postfix:*:*:*:*:*:*:*:*',
      },
      { text: 'mail.example ESMTP Postfix 3.7.10 (Debian)', version: '3.7.10' },
    ],
  ),
  rows('smtp', 'smtp.extensions', 0.6)(
    'smtp.postfix-ehlo',
    ...products.postfix,
    String.raw`(?m)^ETRN\n(?:.*\n)*ENHANCEDSTATUSCODES\n8BITMIME\nDSN(?:\nSMTPUTF8)?(?:\nCHUNKING)?$`,
    'PIPELINING\nSIZE 10240000\nVRFY\nETRN\nSTARTTLS\nENHANCEDSTATUSCODES\n8BITMIME\nDSN\nSMTPUTF8\nCHUNKING',
  ),
  smtp(0.97)(
    'smtp.exim',
    ...products.exim,
    String.raw`\bExim (?P<version>\d+\.\d+(?:\.\d+)*)(?:_RC(?P<candidate>\d+))?(?: (?P<revision>Ubuntu|Debian))?`,
    [
      {
        text: 'mx.example ESMTP Exim 4.96 Tue, 11 Jul 2023 10:00:00 +0000',
        version: '4.96',
        cpe: 'cpe:2.3:a:exim:exim:4.96:*:*:*:*:*:*:*',
      },
    ],
  ),
  smtp(0.85)('smtp.exim-hidden', ...products.exim, String.raw`\bExim\b`, 'mx.example ESMTP Exim ready'),
  smtp(0.97)(
    'smtp.sendmail',
    ...products.sendmail,
    String.raw`\bSendmail (?P<version>\d+\.\d+(?:\.\d+)+)(?:/(?P<config>[^; ]+))?`,
    [
      { text: 'mx.example ESMTP Sendmail 8.17.1/8.17.1; Tue, 11 Jul 2023 10:00:00 GMT', version: '8.17.1' },
      {
        text: 'mx.example ESMTP Sendmail 8.15.2/8.15.2/Debian-22; Tue, 1 Jan 2022 10:00:00 GMT',
        version: '8.15.2',
      },
    ],
  ),
  smtp(0.97)(
    'smtp.opensmtpd',
    ...products.opensmtpd,
    String.raw`\bOpenSMTPD\b`,
    'mx.example ESMTP OpenSMTPD',
  ),
  smtp(0.9)(
    'smtp.exchange',
    ...products.microsoftExchangeOrIisSmtp,
    String.raw`\bMicrosoft ESMTP MAIL Service(?:, Version: (?P<version>\d+(?:\.\d+)+))?`,
    [
      {
        text: 'mx.example Microsoft ESMTP MAIL Service ready at Tue, 11 Jul 2023',
        version: null,
        os: 'windows',
      },
      { text: 'mx Microsoft ESMTP MAIL Service, Version: 8.5.9600.16384 ready', version: '8.5.9600.16384' },
    ],
    null,
    onWindows,
  ),
  smtp(0.95)(
    'smtp.haraka',
    'Haraka',
    'haraka_project:haraka',
    String.raw`\bHaraka(?:/(?P<version>\d+\.\d+\.\d+))?`,
    'mx.example ESMTP Haraka/2.8.28 ready',
    '2.8.28',
  ),
  smtp(0.85)(
    'smtp.courier',
    ...products.courier,
    String.raw`\bCourier(?: (?P<version>\d+\.\d+(?:\.\d+)*))?`,
    'mx.example ESMTP Courier 1.0.16',
    '1.0.16',
  ),
  imap('imap.dovecot', ...products.dovecot, String.raw`\b[Dd]ovecot\b(?: \((?P<revision>[^)]+)\))?`, [
    {
      text: '[CAPABILITY IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE LITERAL+ STARTTLS] Dovecot (Debian) ready.',
      version: null,
      cpe: 'cpe:2.3:a:dovecot:dovecot:*:*:*:*:*:*:*:*',
    },
  ]),
  pop3(
    'pop3.dovecot',
    ...products.dovecot,
    String.raw`\b[Dd]ovecot\b(?: \((?P<revision>[^)]+)\))?`,
    'Dovecot (Debian) ready.',
  ),
  imap(
    'imap.courier',
    ...products.courierImap,
    String.raw`\bCourier-IMAP ready\.`,
    '[CAPABILITY IMAP4rev1 UIDPLUS CHILDREN] Courier-IMAP ready. Copyright 1998-2018 Double Precision, Inc.',
  ),
  pop3(
    'pop3.courier',
    ...products.courierImap,
    String.raw`^Hello there\.(?: <[^>]*>)?$`,
    'Hello there.',
    null,
    { certainty: 0.8 },
  ),
  imap(
    'imap.cyrus',
    ...products.cyrusImap,
    String.raw`\bCyrus IMAP(?:4)? v?(?P<version>\d+\.\d+(?:\.\d+)*)(?:-(?P<revision>[^ ]+))?`,
    [
      {
        text: '[CAPABILITY IMAP4rev1 LITERAL+ ID] mx.example Cyrus IMAP 3.6.1-Debian-3.6.1-4+deb12u2 server ready',
        version: '3.6.1',
        revision: 'Debian-3.6.1-4+deb12u2',
      },
    ],
    null,
    { revision: '{revision}' },
  ),
  pop3(
    'pop3.cyrus',
    ...products.cyrusImap,
    String.raw`\bCyrus POP3 v?(?P<version>\d+\.\d+(?:\.\d+)*)(?:-(?P<revision>[^ ]+))?`,
    'mx.example Cyrus POP3 v2.4.17 server ready',
    '2.4.17',
    { revision: '{revision}' },
  ),
  imap(
    'imap.exchange',
    ...products.microsoftExchange,
    String.raw`\bThe Microsoft Exchange IMAP4 service is ready`,
    [{ text: 'The Microsoft Exchange IMAP4 service is ready.', version: null, os: 'windows' }],
    null,
    { certainty: 0.95, os: { family: 'windows' } },
  ),
];
