import './agent.css'
import { useMemo } from 'preact/hooks'
import { compareVersions } from '../../lib/api/compare-versions.ts'
import type { VersionDetails } from '../../lib/api/schemas/agent-record.ts'
import { getVersion } from '../api/agents.ts'
import { useResource } from '../api/use-resource.ts'
import { Table } from '../components/data.tsx'
import { shortId } from '../components/format.ts'
import { JsonView } from '../components/json-view.tsx'
import { ErrorBox, Page, Spinner } from '../components/page.tsx'
import { Time } from '../components/values.tsx'
import { toHref, toPath } from '../state/location.ts'
import { LineDiff } from './line-diff.tsx'

type Props = { agent: string; before: string; after: string }

/** What differs between two versions of an agent. */
export function ComparePage({ agent, before, after }: Props) {
  const { data, error, reload } = useResource(`${agent} ${before} ${after}`, (signal) =>
    Promise.all([getVersion(agent, before, signal), getVersion(agent, after, signal)]),
  )
  return (
    <Page
      title="Compare versions"
      parent={
        <>
          <a href="#/agents">Agents</a> › <a href={toHref(toPath('agents', agent))}>{agent}</a>
        </>
      }
      actions={
        <a class="button" href={toHref(toPath('agents', agent, 'compare'), { before: after, after: before })}>
          Swap
        </a>
      }
    >
      {error && <ErrorBox error={error} onRetry={reload} />}
      {!data && !error && <Spinner label="Loading the versions…" />}
      {data && <Comparison before={data[0]} after={data[1]} />}
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
        <section class="card stack" aria-labelledby="changes-title">
          <h2 id="changes-title">Document</h2>
          <Table caption="What differs in the document" columns={['Part', 'Before', 'After']}>
            {changes.map((change) => (
              <tr key={change.path}>
                <th scope="row">
                  <code>{change.path}</code>
                </th>
                <td>
                  <Value value={change.before} label={`${change.path} before`} />
                </td>
                <td>
                  <Value value={change.after} label={`${change.path} after`} />
                </td>
              </tr>
            ))}
          </Table>
        </section>
      )}
      {instructions.length > 0 && (
        <section class="card" aria-labelledby="instructions-title">
          <h2 id="instructions-title">Instructions</h2>
          <LineDiff lines={instructions} />
        </section>
      )}
    </div>
  )
}

const VersionCard = ({ title, version }: { title: string; version: VersionDetails }) => (
  <section class="card" aria-label={title}>
    <h2>
      {title}: <code title={version.id}>{shortId(version.id)}</code>
    </h2>
    <p class="muted">
      {version.status === 'DRAFT' ? 'Draft' : 'Published'}, <Time value={version.createdAt} />
      {version.message !== null && `: ${version.message}`}
    </p>
  </section>
)

function Value({ value, label }: { value: unknown; label: string }) {
  if (value === undefined) return <span class="muted">absent</span>
  return <JsonView value={value} label={label} />
}
