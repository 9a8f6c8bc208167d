import type { TargetedSubmitEvent } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { AgentRecord, VersionRecord } from '../../lib/api/schemas/agent-record.ts'
import type { ApiError } from '../api/api-error.ts'
import { type Page, requestPage } from '../api/request.ts'
import { asApiError, useResource } from '../api/use-resource.ts'
import { Table } from '../components/data.tsx'
import { formatTime, shortId } from '../components/format.ts'
import { ErrorBox, Spinner } from '../components/page.tsx'
import { Time } from '../components/values.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'

/** The versions of an agent, newest first. Two of them can be compared. */
export function VersionList({ agent }: { agent: AgentRecord }) {
  const { versions, hasMore, error, loadMore, retry } = useVersions(agent.id)
  return (
    <section class="card stack" aria-labelledby="versions-title">
      <div class="toolbar">
        <h2 id="versions-title">Versions</h2>
        {versions && <CompareForm agent={agent} versions={versions} />}
      </div>
      {error && <ErrorBox error={error} onRetry={retry} />}
      {!versions && !error && <Spinner label="Loading versions…" />}
      {versions && (
        <Table
          caption={`Versions of ${agent.title}`}
          columns={['Version', 'Status', 'Published', 'Author', 'Model', 'Tools', 'Message']}
        >
          {versions.map((version) => (
            <VersionRow
              key={version.id}
              version={version}
              isCurrent={version.id === agent.currentVersionId}
            />
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

function VersionRow({ version, isCurrent }: { version: VersionRecord; isCurrent: boolean }) {
  return (
    <tr>
      <th scope="row">
        <code title={`${version.id}\nContent ${version.contentHash}`}>{shortId(version.id)}</code>
      </th>
      <td>
        {isCurrent ? (
          <span class="badge badge-success">Current</span>
        ) : version.retiredAt !== null ? (
          <span class="badge badge-warning" title={version.retiredAt}>
            Retired
          </span>
        ) : version.status === 'DRAFT' ? (
          <span class="badge badge-warning">Draft</span>
        ) : (
          <span class="badge">Published</span>
        )}
      </td>
      <td>
        <Time value={version.createdAt} />
      </td>
      <td>
        <code title={version.createdBy}>{shortId(version.createdBy)}</code>
      </td>
      <td>{version.model === null ? <span class="muted">–</span> : <code>{version.model}</code>}</td>
      <td>{version.toolNames.length === 0 ? <span class="muted">–</span> : version.toolNames.join(', ')}</td>
      <td class="version-message">{version.message ?? <span class="muted">–</span>}</td>
    </tr>
  )
}

const PAGE_SIZE = 20

/** The versions of an agent, newest first, page by page. */
function useVersions(agentId: string) {
  const [more, setMore] = useState<Page<VersionRecord> | null>(null)
  const [moreError, setMoreError] = useState<ApiError | null>(null)
  const load = (query: URLSearchParams, signal?: AbortSignal) =>
    requestPage<VersionRecord>(`/v1/agents/${encodeURIComponent(agentId)}/versions`, { query, signal })
  const { data, error, reload } = useResource(agentId, (signal) =>
    load(new URLSearchParams({ limit: String(PAGE_SIZE) }), signal),
  )
  const next = more ? more.next : (data?.next ?? null)

  async function loadMore() {
    if (!next) return
    setMoreError(null)
    try {
      const page = await load(next)
      setMore({ items: [...(more?.items ?? []), ...page.items], next: page.next })
    } catch (cause) {
      setMoreError(asApiError(cause))
    }
  }

  return {
    versions: data ? [...data.items, ...(more?.items ?? [])] : null,
    hasMore: next !== null,
    error: error ?? moreError,
    loadMore,
    retry: error ? reload : loadMore,
  }
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
