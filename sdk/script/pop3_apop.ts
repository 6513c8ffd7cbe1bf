/** Finds POP3 servers that offer APOP, a login by MD5 that can be broken (RFC 6151, CVE-2007-1558). */
import type { Banner, DataContext, PluginContext, ScriptPlugin, Vulnerability } from '../types/portolan.d.ts';

export const Plugin: ScriptPlugin = {
  name: 'pop3_apop',
  type: 'evaluation',
  version: '1.0.0',
  description: 'Finds POP3 servers that offer APOP.',
  requires: ['banners'],
  provides: ['vulnerabilities'],
  async execute(context: PluginContext, data: DataContext) {
    for await (const banner of data.stream<Banner>('banners')) {
      // The greeting of such a server has a timestamp between angle brackets (RFC 1939, section 7).
      const [greeting] = /^\+OK [^\r\n]*<[^<>\r\n@]+@[^<>\r\n]+>/.exec(banner.banner) ?? [];
      if (greeting === undefined) continue;
      const { host, port, protocol } = banner;
      const finding = {
        id: 'pop3-apop',
        title: 'POP3 server offers APOP',
        severity: 'low',
        class: 'certain',
      } as const;
      await data.append<Vulnerability>('vulnerabilities', {
        ...finding,
        host,
        port,
        protocol,
        evidence: greeting,
      });
      context.log.info(`${host}:${port} offers APOP`);
    }
  },
};
