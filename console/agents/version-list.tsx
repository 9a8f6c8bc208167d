import type { TargetedSubmitEvent } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import { Table } from '../components/data.tsx'
import { formatTime, shortId } from '../components/format.ts'
import { ErrorBox, Spinner } from '../components/page.tsx'
import { Time, VersionLink } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useMe } from '../state/session.ts'
import { stateOf, VersionBadge } from '../versions/version-state.tsx'
import type { Versions } from './use-versions.ts'

/** The versions of an agent, newest first. Two of them can be compared. */
export function VersionList({ agent, list }: { agent: AgentRecord; list: Versions }) {
  const { versions, hasMore, error, loadMore, retry } = list
  const isBound = useMe()?.tenantId != null
  return (
    <section class="card stack" aria-labelledby="versions-title">
      <div class="toolbar">
        <h2 id="versions-title">Versions</h2>
        {versions && !isBound && <CompareForm agent={agent} versions={versions} />}
      </div>
      {error && <ErrorBox error={error} onRetry={retry} />}
      {!versions && !error && <Spinner label="Loading versions…" />}
      {versions && (
        <Table
          caption={`Versions of ${agent.title}`}
          columns={['Version', 'Status', 'Created', 'Author', 'Model', 'Tools', 'Message']}
        >
          {versions.map((version) => (
            <VersionRow key={version.id} version={version} agent={agent} />
          ))}
        </Table>
      )}
      {hasMore && (
        <div>
          <button type="button" onClick={loadMore}>
            Load more
          </button>
        </div>
      )}
    </section>
  )
}

function VersionRow({ version, agent }: { version: VersionRecord; agent: AgentRecord }) {
  return (
    <tr>
      <th scope="row">
        <VersionLink agent={agent.slug} versionId={version.id} />
      </th>
      <td>
        <VersionBadge version={version} state={stateOf(version, agent)} />
      </td>
      <td>
        <Time value={version.createdAt} />
      </td>
      <td>
        <code title={version.createdBy}>{shortId(version.createdBy)}</code>
      </td>
      <td>
        {version.model === null ? (
          <span class="muted">–</span>
        ) : (
          <code>
            <VisibleText text={version.model} />
          </code>
        )}
      </td>
      <td>
        {version.toolNames.length === 0 ? (
          <span class="muted">–</span>
        ) : (
          <VisibleText text={version.toolNames.join(', ')} />
        )}
      </td>
      <td class="version-message">
        {version.message === null ? <span class="muted">–</span> : <VisibleText text={version.message} />}
      </td>
    </tr>
  )
}

/** Chooses two versions to compare. At first the newest two: a draft and what it would replace, for example. */
function CompareForm({ agent, versions }: { agent: AgentRecord; versions: VersionRecord[] }) {
  const id = useId()
  const [newest, second] = versions
  const [before, setBefore] = useState(second?.id ?? '')
  const [after, setAfter] = useState(newest?.id ?? '')
  if (!newest || !second) return null

  function compare(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    navigate(toHref(toPath('agents', agent.slug, 'compare'), { before, after }))
  }

  const options = versions.map((version) => (
    <option key={version.id} value={version.id}>
      {shortId(version.id)}, {formatTime(version.createdAt)}
      {version.id === agent.currentVersionId ? ' (current)' : version.status === 'DRAFT' ? ' (draft)' : ''}
    </option>
  ))
  return (
    <form class="compare-form" onSubmit={compare}>
      <label for={`${id}-before`}>Compare</label>
      <select
        id={`${id}-before`}
        value={before}
        onChange={({ currentTarget }) => setBefore(currentTarget.value)}
      >
        {options}
      </select>
      <label for={`${id}-after`}>with</label>
      <select
        id={`${id}-after`}
        value={after}
        onChange={({ currentTarget }) => setAfter(currentTarget.value)}
      >
        {options}
      </select>
      <button type="submit">Compare</button>
    </form>
  )
}
