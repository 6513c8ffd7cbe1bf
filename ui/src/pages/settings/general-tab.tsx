import { type ReactNode, useState } from 'react';
import { useGet } from '../../api/use-get.ts';
import { Button } from '../../components/controls/button.tsx';
import { Segmented } from '../../components/controls/segmented.tsx';
import { setSingleKeys, singleKeysOn } from '../../components/controls/single-keys.ts';
import { Switch } from '../../components/controls/switch.tsx';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { CopyButton } from '../../components/text/copy-button.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { localZone, setTimeZone, useTimeZone } from '../../components/text/time-zone.ts';
import { signOut, useSession } from '../../session/session.ts';
import { apiPath } from '../../url/paths.ts';

/** This browser, this token, this service. */
export default function GeneralTab(): ReactNode {
  return (
    <div className="flex max-w-(--reading) flex-col gap-8">
      <ThisBrowser />
      <ThisToken />
      <ThisService />
    </div>
  );
}

function ThisBrowser(): ReactNode {
  const zone = useTimeZone();
  const [keys, setKeys] = useState(singleKeysOn());
  return (
    <Section title="This browser" note="stored here, not on the server">
      <div className="flex flex-col gap-4 pt-3">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <span id="times" className="text-text-2">
            Times in
          </span>
          <Segmented
            label="Times in"
            value={zone === 'UTC' ? 'UTC' : 'local'}
            onChange={setTimeZone}
            options={[
              { value: 'UTC', label: 'UTC' },
              { value: 'local', label: `Your zone, ${localZone()}` },
            ]}
          />
        </div>
        <Switch
          checked={keys}
          onChange={(on) => {
            setSingleKeys(on);
            setKeys(on);
          }}
          label="Single-letter keys"
          hint="G then D opens the dashboard, N a new scan, J and K the next and previous row. Press ? for all of them."
        />
      </div>
    </Section>
  );
}

function ThisToken(): ReactNode {
  const { state, name, tokenId, scopes, tenant, expiresAt } = useSession();
  if (state === 'open') {
    return (
      <Section title="This token">
        <p className="pt-3 text-text-2">
          The server requires no token (<Mono>server.api.auth</Mono> is off): everybody who reaches it may do
          everything.
        </p>
      </Section>
    );
  }
  return (
    <Section
      title="This token"
      actions={
        <Button size="small" onClick={() => signOut()}>
          Sign out
        </Button>
      }
    >
      <KeyValues
        rows={[
          { label: 'Name', value: name },
          {
            label: 'ID',
            value: tokenId === null ? undefined : <Mono>{tokenId}</Mono>,
          },
          {
            label: 'Scopes',
            value: (
              <span className="inline-flex flex-wrap justify-end gap-1">
                {scopes.map((scope) => (
                  <Tag key={scope}>{scope}</Tag>
                ))}
              </span>
            ),
          },
          { label: 'Tenant', value: tenant ?? 'none: it sees the whole service' },
          { label: 'Expires', value: expiresAt === null ? 'never' : <TimeText at={expiresAt} relative /> },
        ]}
      />
    </Section>
  );
}

function ThisService(): ReactNode {
  const got = useGet('/api/v1/version', {});
  return (
    <Section title="This service">
      <Boundary got={got} what="The version" rows={4}>
        {({ version, commit, built_at, node, api }) => (
          <KeyValues
            rows={[
              { label: 'Portolan', value: version },
              {
                label: 'Commit',
                value:
                  commit === null ? undefined : (
                    <span className="inline-flex items-center gap-1">
                      <Mono title={commit}>{commit.slice(0, 12)}</Mono>
                      <CopyButton text={commit} label="Copy commit" />
                    </span>
                  ),
              },
              {
                label: 'Built',
                value: built_at === null ? undefined : <TimeText at={built_at} form="exact" />,
              },
              { label: 'Node', value: node },
              {
                label: 'API',
                value: (
                  <a href={`${apiPath}/api/v1/docs`} target="_blank" rel="noreferrer">
                    Documentation of {api}
                  </a>
                ),
              },
            ]}
          />
        )}
      </Boundary>
    </Section>
  );
}
