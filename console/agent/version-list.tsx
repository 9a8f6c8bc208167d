import type { AgentRecord, VersionRecord } from '../../lib/api/schemas/agent-record.ts'
import { Table } from '../components/data/table.tsx'
import { ErrorBox } from '../components/page/error-box.tsx'
import { Spinner } from '../components/page/spinner.tsx'
import { Time } from '../components/values/time.tsx'
import { shortId } from '../format/numbers.ts'
import { CompareForm } from './compare-form.tsx'
import { useVersions } from './use-versions.ts'

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
