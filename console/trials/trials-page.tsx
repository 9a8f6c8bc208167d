import './trials.css'
import { useId } from 'preact/hooks'
import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import { useAgents } from '../api/agents.ts'
import { requestPage } from '../api/request.ts'
import { mergeNewest, usePages } from '../api/use-pages.ts'
import { Table } from '../components/data.tsx'
import { formatCost, formatCount, shortId } from '../components/format.ts'
import { ListEnd } from '../components/list-end.tsx'
import { NeedsScope, Page, Spinner } from '../components/page.tsx'
import { AgentLink, Time, VersionLink } from '../components/values.tsx'
import { toVisible } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { StartTrialPage } from './start-trial-page.tsx'
import { TrialPage } from './trial-page.tsx'
import { FollowTrials, TrialBadge } from './trial-values.tsx'
import { describeVerdicts, VerdictBar } from './verdict-bar.tsx'
import { endedOf } from './verdicts.ts'

export { StartTrialPage, TrialPage }

/** Trials, newest first. The agent and the version are in the URL. */
export function TrialsPage({ query }: { query: URLSearchParams }) {
  const agent = query.get('agent') ?? ''
  const version = query.get('version') ?? ''
  const mayManage = useScope('manage')
  const start = (
    <a class="button primary" href={toHref('/trials/new', { agent, version })}>
      Start a trial…
    </a>
  )
  return (
    <Page title="Trials" actions={mayManage && start}>
      <NeedsScope scope="read">
        <div class="stack">
          <p class="muted note">
            A trial repeats runs that have ended on another version, and compares what comes out. Tools return
            the recorded results: nothing happens outside.
          </p>
          <Filters agent={agent} version={version} />
          <Trials key={`${agent} ${version}`} agent={agent} version={version} />
        </div>
      </NeedsScope>
    </Page>
  )
}

type Filter = { agent: string; version: string }

function Filters({ agent, version }: Filter) {
  const id = useId()
  const agents = [...(useAgents()?.values() ?? [])]
  const isKnown = agents.some(({ slug }) => slug === agent)
  return (
    <search class="trials-filters">
      <label for={id}>Agent</label>
      <select
        id={id}
        value={agent}
        onChange={({ currentTarget }) =>
          navigate(toHref('/trials', { agent: currentTarget.value }), { replace: true })
        }
      >
        <option value="">All</option>
        {!isKnown && agent !== '' && <option value={agent}>{toVisible(agent)}</option>}
        {agents.map(({ slug, title }) => (
          <option key={slug} value={slug}>
            {toVisible(title)}
          </option>
        ))}
      </select>
      {version !== '' && (
        <>
          <span>
            Version <code title={version}>{shortId(version)}</code>
          </span>
          <a href={toHref('/trials', { agent })}>All versions</a>
        </>
      )}
    </search>
  )
}

function Trials({ agent, version }: Filter) {
  const load = (next: URLSearchParams | null, signal?: AbortSignal) =>
    requestPage<TrialRecord>('/v1/trials', { query: next ?? { agent, version, limit: 25 }, signal })
  const { items, next, isLoading, error, loadMore, reload, update } = usePages('trials', load)
  const poll = async () => {
    const newest = await load(null)
    update((listed) => mergeNewest(listed, newest.items))
    return newest.items
  }
  const isEmpty = items.length === 0
  return (
    <>
      {isLoading && isEmpty && <Spinner label="Loading trials…" />}
      {items.some(({ status }) => status !== 'ENDED') && <FollowTrials poll={poll} />}
      {!isEmpty && (
        <Table
          caption="Trials, newest first"
          columns={[
            'Trial',
            'Agent',
            'Version',
            'Status',
            'Verdicts',
            { label: 'Ended', isNumeric: true },
            { label: 'Cost', isNumeric: true },
            'Created',
          ]}
        >
          {items.map((trial) => (
            <Row key={trial.id} trial={trial} />
          ))}
        </Table>
      )}
      {!isLoading && !error && isEmpty && <NoTrials agent={agent} version={version} />}
      <ListEnd {...{ next, isLoading, error, loadMore, reload }} />
    </>
  )
}

function Row({ trial }: { trial: TrialRecord }) {
  const { id, documentId, versionId, verdicts, lines, costUsd, createdAt } = trial
  const judged = Object.values(verdicts).reduce((sum, count) => sum + count, 0)
  const agent = useAgents()?.get(documentId)?.slug ?? documentId
  return (
    <tr class="trial-row">
      <th scope="row">
        <a class="mono" href={toHref(toPath('trials', id))} title={id}>
          {shortId(id)}
        </a>
      </th>
      <td>
        <AgentLink agentId={documentId} />
      </td>
      <td>
        <VersionLink agent={agent} versionId={versionId} />
      </td>
      <td>
        <TrialBadge trial={trial} />
      </td>
      <td class="trial-verdicts">
        <VerdictBar verdicts={verdicts} open={lines - judged} />
        {describeVerdicts(verdicts)}
      </td>
      <td class="numeric">
        {formatCount(endedOf(trial))} of {formatCount(lines)}
      </td>
      <td class="numeric">{formatCost(costUsd)}</td>
      <td>
        <Time value={createdAt} />
      </td>
    </tr>
  )
}

function NoTrials({ agent, version }: Filter) {
  const mayManage = useScope('manage')
  return (
    <p class="empty">
      {agent === '' ? 'There are no trials yet.' : 'There are no trials of this agent or version yet.'}{' '}
      {mayManage ? (
        <a href={toHref('/trials/new', { agent, version })}>Start one</a>
      ) : (
        'A token with the scope manage can start one.'
      )}
    </p>
  )
}
