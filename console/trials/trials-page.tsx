import './trials.css'
import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import { useAgents } from '../api/agents.ts'
import { useList } from '../api/use-list.ts'
import { AGENT_FILTER } from '../components/filters.ts'
import { formatCost, formatCount } from '../components/format.ts'
import { AgentLink, IdLink, Time, VersionLink } from '../components/values.tsx'
import { TextLink } from '../components/visible-text.tsx'
import { listPage } from '../list-page.tsx'
import { toHref } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { describeVerdicts, TrialBadge, VerdictBar } from './verdict-bar.tsx'
import { endedOf } from './verdicts.ts'

export { StartTrialPage } from './start-trial-page.tsx'
export { TrialPage } from './trial-page.tsx'

export const TrialsPage = listPage({
  title: 'Trials',
  path: '/trials',
  scope: 'read',
  note: 'A trial repeats runs that have ended on another version, and compares what comes out. Tools return the recorded results: nothing happens outside.',
  filters: { ...AGENT_FILTER, version: { label: 'Version', placeholder: 'ID', maxLength: 36 } },
  useItems: (values) =>
    useList<TrialRecord>('/v1/trials', {
      query: { ...values, limit: 25 },
      poll: { everyMs: (trials) => (trials.some(({ status }) => status !== 'ENDED') ? 3_000 : null) },
    }),
  noun: 'trial',
  caption: 'Trials, newest first',
  columns: {
    Trial: ({ id }) => <IdLink section="trials" id={id} />,
    Agent: ({ documentId }) => <AgentLink agentId={documentId} />,
    Version: (trial) => <Version trial={trial} />,
    Status: (trial) => <TrialBadge trial={trial} />,
    Verdicts: { text: (trial) => <Verdicts trial={trial} /> },
    Ended: { numeric: (trial) => `${formatCount(endedOf(trial))} of ${formatCount(trial.lines)}` },
    Cost: { numeric: ({ costUsd }) => formatCost(costUsd) },
    Created: ({ createdAt }) => <Time value={createdAt} />,
  },
  empty: (values) => <NoTrials {...values} />,
  noMatch: (values) => <NoTrials {...values} />,
  Actions: ({ values }) =>
    useScope('manage') && (
      <TextLink class="button primary" href={toHref('/trials/new', values)} text="Start a trial…" />
    ),
})

function Version({ trial: { documentId, versionId } }: { trial: TrialRecord }) {
  const agent = useAgents()?.get(documentId)?.slug ?? documentId
  return <VersionLink agent={agent} versionId={versionId} />
}

function Verdicts({ trial: { verdicts, lines } }: { trial: TrialRecord }) {
  const judged = Object.values(verdicts).reduce((sum, count) => sum + count, 0)
  return (
    <>
      <VerdictBar verdicts={verdicts} open={lines - judged} />
      {describeVerdicts(verdicts)}
    </>
  )
}

function NoTrials(values: { agent: string; version: string }) {
  const mayManage = useScope('manage')
  return (
    <>
      {values.agent === '' ? 'There are no trials yet.' : 'There are no trials of this agent or version yet.'}{' '}
      {mayManage ? (
        <a href={toHref('/trials/new', values)}>Start one</a>
      ) : (
        'A token with the scope manage can start one.'
      )}
    </>
  )
}
