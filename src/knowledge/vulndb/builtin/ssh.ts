import { cve } from './entry.ts';

const openssh = 'a:openbsd:openssh';
const libssh = 'a:libssh:libssh';
const dropbear = 'a:dropbear_ssh_project:dropbear_ssh';
const paramiko = 'a:paramiko:paramiko';

/** OpenSSH and other SSH servers. */
export const sshCves = [
  cve(
    'CVE-2024-6387',
    'NHNN/U/HHH',
    'A race in the signal handler of sshd lets strangers run code as root (regreSSHion)',
    { [openssh]: ['< 4.4', '>= 8.5, < 9.8'] },
    {
      remedy:
        'Until the update, LoginGraceTime 0 in sshd_config closes the race at the price of easier denial of service.',
    },
  ),
  cve(
    'CVE-2023-48795',
    'NHNN/U/NHN',
    'Somebody on the path can drop messages at the start of an SSH session unnoticed (Terrapin)',
    {
      [openssh]: ['< 9.6'],
      [libssh]: ['< 0.9.8', '>= 0.10.0, < 0.10.6'],
      [dropbear]: ['<= 2022.83'],
      [paramiko]: ['< 3.4.0'],
      'a:apache:sshd': ['<= 2.11.0'],
    },
    {
      remedy:
        'Update both ends for strict key exchange, or switch off chacha20-poly1305 and the -etm MACs with CBC ciphers.',
    },
  ),
  cve(
    'CVE-2023-38408',
    'NLNN/U/HHH',
    'A forwarded ssh-agent can be made to load libraries and run code; the SSH server itself is not at fault',
    { [openssh]: ['< 9.3p2'] },
    { remedy: 'Do not forward agents to hosts that are not trusted.' },
  ),
  cve(
    'CVE-2023-51385',
    'NLNN/U/LLN',
    'User or host names with shell characters can run commands through ssh configuration tokens on the client',
    { [openssh]: ['< 9.6'] },
  ),
  cve(
    'CVE-2021-41617',
    'LHLN/U/HHH',
    'Helper programs of sshd started for another user keep supplementary groups they should not have',
    { [openssh]: ['>= 6.2, < 8.8'] },
  ),
  cve(
    'CVE-2021-28041',
    'NHLR/U/HHH',
    'A double free in ssh-agent may run code when the agent is forwarded to a hostile host',
    { [openssh]: ['>= 8.2, < 8.5'] },
  ),
  cve('CVE-2025-26465', 'NHNR/U/HHN', 'A client with VerifyHostKeyDNS can be led to a false server', {
    [openssh]: ['>= 6.8, < 9.9p2'],
  }),
  cve(
    'CVE-2025-26466',
    'NHNN/U/NNH',
    'Ping packets before authentication exhaust memory and processor of the SSH server',
    { [openssh]: ['>= 9.5, < 9.9p2'] },
    { remedy: 'LoginGraceTime, MaxStartups and PerSourcePenalties bound the harm.' },
  ),
  cve('CVE-2018-15473', 'NLNN/U/LNN', 'Answers to malformed authentication tell which user names exist', {
    [openssh]: ['<= 7.7'],
  }),
  cve('CVE-2017-15906', 'NLNN/U/NLN', 'The SFTP server in read-only mode lets users create empty files', {
    [openssh]: ['< 7.6'],
  }),
  cve('CVE-2016-10009', 'NLNN/U/LLL', 'A forwarded ssh-agent loads PKCS#11 modules from anywhere', {
    [openssh]: ['< 7.4'],
  }),
  cve(
    'CVE-2016-10012',
    'LLLN/U/HHH',
    'Missing bounds checks in the shared memory of the pre-authentication process help a local attacker to more rights',
    { [openssh]: ['< 7.4'] },
  ),
  cve(
    'CVE-2016-10708',
    'NLNN/U/NNH',
    'An out-of-sequence NEWKEYS message crashes the session process of sshd',
    { [openssh]: ['< 7.4'] },
  ),
  cve('CVE-2016-6515', 'NLNN/U/NNH', 'Very long passwords keep the processor of the SSH server busy', {
    [openssh]: ['< 7.3'],
  }),
  cve('CVE-2016-6210', 'NHNN/U/HNN', 'The time an answer takes tells which user names exist', {
    [openssh]: ['< 7.3'],
  }),
  cve('CVE-2016-1908', 'NLNN/U/HHH', 'Untrusted X11 forwarding falls back to trusted forwarding', {
    [openssh]: ['< 7.2'],
  }),
  cve(
    'CVE-2018-10933',
    'NLNN/U/HHN',
    'A client that claims to be authenticated is believed, without any credentials',
    { [libssh]: ['>= 0.6.0, < 0.7.6', '>= 0.8.0, < 0.8.4'] },
  ),
  cve(
    'CVE-2023-2283',
    'NLNN/U/LLN',
    'When memory is short, the signature of a client is taken as good without a check',
    { [libssh]: ['>= 0.9.1, < 0.9.7', '>= 0.10.0, < 0.10.5'] },
  ),
  cve('CVE-2016-7406', 'NLNN/U/HHH', 'Format characters in user or host names may run code as root', {
    [dropbear]: ['< 2016.74'],
  }),
  cve(
    'CVE-2017-9078',
    'NLLN/U/HHH',
    'A double free when TCP forwarding is cleaned up lets authenticated users run code as root',
    { [dropbear]: ['< 2017.75'] },
  ),
  cve('CVE-2018-15599', 'NLNN/U/LNN', 'Answers to malformed authentication tell which user names exist', {
    [dropbear]: ['<= 2018.76'],
  }),
  cve(
    'CVE-2018-7750',
    'NLNN/U/HHH',
    'The SSH server does not check that a client has authenticated before it serves requests',
    {
      [paramiko]: [
        '< 1.17.6',
        '>= 1.18.0, < 1.18.5',
        '>= 2.0.0, < 2.0.8',
        '>= 2.1.0, < 2.1.5',
        '>= 2.2.0, < 2.2.3',
        '>= 2.3.0, < 2.3.2',
        '>= 2.4.0, < 2.4.1',
      ],
    },
  ),
  cve(
    'CVE-2025-32433',
    'NLNN/C/HHH',
    'The SSH server of Erlang/OTP runs commands of clients that have not authenticated',
    { 'a:erlang:erlang/otp': ['< 25.3.2.20', '>= 26.0, < 26.2.5.11', '>= 27.0, < 27.3.3'] },
  ),
];
