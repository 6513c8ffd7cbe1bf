import type { ReactNode } from 'react';
import { Drawer } from '../../components/controls/drawer.tsx';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Note } from '../../components/layout/note.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { CopyButton } from '../../components/text/copy-button.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { absent } from '../../format/numbers.ts';
import { Link } from '../../url/link.tsx';
import { ChangePlugin } from './change-plugin.tsx';
import { PluginState } from './plugin-state.tsx';
import { kindWord, mayText, type PluginRow, reasonOf, runsText, signatureWords } from './plugin-words.ts';

interface DrawerProps {
  plugin: PluginRow;
  position: string;
  onClose(): void;
  onNext: (() => void) | undefined;
  onPrevious: (() => void) | undefined;
}

/** What one plugin adds, who signed it, and the file it comes from. */
export function PluginDrawer({ plugin, ...drawer }: DrawerProps): ReactNode {
  const { name, kind, version, path, sha256, signature, error, stage } = plugin;
  return (
    <Drawer
      title={<TargetText text={name} />}
      eyebrow="Plugin"
      marks={
        <>
          <Tag>{kindWord(kind)}</Tag>
          <PluginState plugin={plugin} />
        </>
      }
      {...drawer}
    >
      {error !== null && (
        <div className="pb-4">
          <Note tone="problem" title="This plugin is not loaded">
            <TargetText text={reasonOf(plugin)} wrap />
            <p className="pt-1.5">
              Scans run without it. Install a version that loads, then <Mono>portolan server reload</Mono>.
            </p>
          </Note>
        </div>
      )}
      {plugin.installed_at !== null && <ChangePlugin plugin={plugin} onRemoved={drawer.onClose} />}
      <KeyValues
        form="column"
        rows={[
          { label: 'Adds', value: plugin.loaded ? <Added plugin={plugin} /> : undefined },
          { label: 'Runs in', value: runsText(plugin) },
          { label: 'May', value: mayText(plugin) },
          { label: 'Stage', value: stage === null ? undefined : stage },
          { label: 'Version', value: version === null ? absent : <Mono>{version}</Mono> },
          {
            label: 'Version before',
            value: plugin.previous === null ? undefined : <Mono>{plugin.previous}</Mono>,
          },
          {
            label: 'Installed',
            value: plugin.installed_at === null ? undefined : <TimeText at={plugin.installed_at} />,
          },
          { label: 'Signature', value: signatureWords(signature) },
          { label: 'Fingerprint', value: copyable(signature.fingerprint, 'Copy fingerprint') },
          { label: 'Place', value: copyable(path, 'Copy path') },
          { label: 'SHA-256', value: copyable(sha256, 'Copy SHA-256') },
        ]}
      />
    </Drawer>
  );
}

function Added({ plugin: { name, kind } }: { plugin: PluginRow }): ReactNode {
  if (kind === 'rules') return 'rules to scans that evaluate vulnerabilities';
  return (
    <>
      the module{' '}
      <Link to={`/modules?module=${encodeURIComponent(name)}`}>
        <TargetText text={name} mono />
      </Link>{' '}
      to graphs
    </>
  );
}

function copyable(text: string | null, label: string): ReactNode {
  if (text === null) return undefined;
  return (
    <span className="flex items-start gap-1">
      <span className="min-w-0 [overflow-wrap:anywhere]">
        <TargetText text={text} mono wrap />
      </span>
      <CopyButton text={text} label={label} />
    </span>
  );
}
