import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { AgreementRecord } from '../../lib/contract/records/score.ts'
import { requestJson } from '../api/request.ts'
import { type List, useList } from '../api/use-list.ts'
import { useResource } from '../api/use-resource.ts'
import { Card } from '../components/data.tsx'
import { AGENT_FILTER, TENANT_FILTER } from '../components/filters.ts'
import { DialogButton } from '../components/form-dialog.tsx'
import { formatCount, formatScore } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { ErrorBox } from '../components/page.tsx'
import { AgentLink, RunLink, Time } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { listPage } from '../list-page.tsx'
import { FeedbackDialog } from '../run/feedback-dialog.tsx'

type Props = { values: { agent: string; tenantId: string }; list: List<ExecutionRecord> }

/** Runs with a low score, of which people say whether the scorer is right. */
export const LowScoresPage = listPage({
  title: 'Low scores',
  scope: 'read',
  path: '/scores',
  note: 'Runs with a score below the minimum of a scorer that nobody has reviewed. A review takes a run out of the list, and shows how far scorers agree with people.',
  filters: { ...AGENT_FILTER, ...TENANT_FILTER },
  useItems: ({ agent, tenantId }) => {
    const path = agent ? `/v1/agents/${encodeURIComponent(agent)}/executions` : '/v1/agent_executions'
    return useList<ExecutionRecord>(path, { query: { scores: 'low', tenantId, limit: 20 } })
  },
  noun: 'run',
  caption: 'Runs with low scores',
  useRow: (_: ExecutionRecord, list: List<ExecutionRecord>) => list,
  columns: {
    Run: { header: ({ id }) => <RunLink executionId={id} /> },
    Ended: ({ finishedAt }) => <Time value={finishedAt} />,
    Agent: ({ documentId }) => <AgentLink agentId={documentId} />,
    Scores: {
      text: ({ scores = [] }) =>
        scores.map(({ agent, score, reason }) => (
          <div key={agent}>
            <VisibleText text={agent} /> <strong>{score === null ? 'none' : formatScore(score)}</strong>{' '}
            <VisibleText text={reason ?? ''} />
          </div>
        )),
    },
    Tenant: { text: ({ tenantId }) => tenantId },
    Review: { actions: (run, list) => <ReviewButton run={run} list={list} /> },
  },
  empty: () => 'No run waits for a review: none has a low score.',
  Actions: () => <a href="#/runs">All runs</a>,
  End: Agreement,
})

/** A review of a token that may only run agents would leave the run in the list. */
const ReviewButton = ({ run, list }: { run: ExecutionRecord; list: List<ExecutionRecord> }) => (
  <DialogButton label="Review…" scope="review">
    {(close) => (
      <FeedbackDialog
        run={run}
        onChange={({ id }) => list.update((runs) => runs.filter((each) => each.id !== id))}
        onClose={close}
      />
    )}
  </DialogButton>
)

/** Whether scorers can be trusted: how far they agree with the reviews of people. */
function Agreement({ values: { agent, tenantId }, list }: Props) {
  const { data, error, reload } = useResource(`${agent} ${tenantId} ${list.items.length}`, (signal) =>
    requestJson<AgreementRecord[]>('/v1/scores/agreement', { query: { agent, tenantId }, signal }),
  )
  if (error) return <ErrorBox error={error} onRetry={reload} />
  if (!data || data.length === 0) return null
  return (
    <Card title="Agreement with people" class="stack">
      <ItemTable
        caption="Agreement with people"
        items={data}
        keyOf={({ scorer }) => scorer}
        columns={{
          Scorer: { header: ({ scorer }) => <VisibleText text={scorer} /> },
          'Reviewed runs': { numeric: ({ runs }) => formatCount(runs) },
          'High, liked': { numeric: ({ highLiked }) => formatCount(highLiked) },
          'High, disliked': { numeric: ({ highDisliked }) => formatCount(highDisliked) },
          'Low, liked': { numeric: ({ lowLiked }) => formatCount(lowLiked) },
          'Low, disliked': { numeric: ({ lowDisliked }) => formatCount(lowDisliked) },
          Kappa: { numeric: ({ kappa }) => (kappa === null ? 'unknown' : formatScore(kappa)) },
        }}
      />
      <p class="muted">
        Cohen’s kappa is 1 if a scorer and people always agree, and 0 if they agree as often as by chance.
        Review runs with high scores, too.
      </p>
    </Card>
  )
}
