import './agent.css'
import '../compare/compare.css'
import { useMemo } from 'preact/hooks'
import { compareVersions } from '../../lib/contract/compare-versions.ts'
import type { VersionDetails } from '../../lib/contract/records/agent-record.ts'
import { getVersion } from '../api/agents.ts'
import { useResource } from '../api/use-resource.ts'
import { Card } from '../components/data.tsx'
import { AgentPath, Loaded } from '../components/detail-page.tsx'
import { JsonView } from '../components/json-view.tsx'
import { Page } from '../components/page.tsx'
import { Time, VersionLink } from '../components/values.tsx'
import { TextAfter, VisibleText } from '../components/visible-text.tsx'
import { toHref, toPath } from '../state/location.ts'
import { LineDiff } from './line-diff.tsx'

type Props = { agent: string; query: URLSearchParams }

/** What differs between two versions of an agent. */
export function ComparePage({ agent, query }: Props) {
  const [before, after] = [query.get('before') ?? '', query.get('after') ?? '']
  const versions = useResource(`${agent} ${before} ${after}`, (signal) =>
    Promise.all([getVersion(agent, before, signal), getVersion(agent, after, signal)]),
  )
  return (
    <Page
      title="Compare versions"
      parent={<AgentPath agent={agent} />}
      actions={
        <a class="button" href={toHref(toPath('agents', agent, 'compare'), { before: after, after: before })}>
          Swap
        </a>
      }
    >
      <Loaded of={versions} label="Loading the versions…">
        {([first, second]) => <Comparison before={first} after={second} />}
      </Loaded>
    </Page>
  )
}

function Comparison({ before, after }: { before: VersionDetails; after: VersionDetails }) {
  const { changes, instructions } = useMemo(() => compareVersions(before, after), [before, after])
  return (
    <div class="stack">
      <div class="grid">
        <VersionCard title="Before" version={before} />
        <VersionCard title="After" version={after} />
      </div>
      {changes.length === 0 && instructions.length === 0 && <p class="empty">The versions do not differ.</p>}
      {changes.length > 0 && (
        <Card title="Document" class="stack">
          <ul class="stack plain-list changes">
            {changes.map((change) => (
              <li key={change.path}>
                <h3>
                  <code>
                    <VisibleText text={change.path} />
                  </code>
                </h3>
                <div class="sides">
                  <Side name="Before" value={change.before} path={change.path} />
                  <Side name="After" value={change.after} path={change.path} />
                </div>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {instructions.length > 0 && (
        <Card title="Instructions">
          <LineDiff lines={instructions} />
        </Card>
      )}
    </div>
  )
}

const VersionCard = ({ title, version }: { title: string; version: VersionDetails }) => (
  <section class="card" aria-label={title}>
    <h2>
      {title}: <VersionLink agent={version.documentId} versionId={version.id} />
    </h2>
    <p class="muted">
      {version.status === 'DRAFT' ? 'Draft' : 'Published'}, <Time value={version.createdAt} />
      <TextAfter text={version.message} />
    </p>
  </section>
)

type SideProps = { name: 'Before' | 'After'; value: unknown; path: string }

/** One side of a change; narrow windows show the sides one below the other. */
const Side = ({ name, value, path }: SideProps) => (
  <div class={`side side-${name === 'Before' ? 'a' : 'b'}`}>
    <span class="side-name">{name}</span>
    {value === undefined ? (
      <span class="muted">absent</span>
    ) : (
      <JsonView value={value} label={`${path} ${name.toLowerCase()}`} />
    )}
  </div>
)
