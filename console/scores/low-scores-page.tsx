import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import { type List, useList } from '../api/use-list.ts'
import { AGENT_FILTER, TENANT_FILTER } from '../components/filters.ts'
import { DialogButton } from '../components/form-dialog.tsx'
import { formatScore } from '../components/format.ts'
import { AgentLink, RunLink, Time } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { listPage } from '../list-page.tsx'
import { FeedbackDialog } from '../run/feedback-dialog.tsx'
import { Agreement } from './scores.tsx'

type Props = { values: { agent: string; tenantId: string }; list: List<ExecutionRecord> }

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
    Review: {
      // A review of a token that may only run agents would leave the run in the list.
      actions: (run, { update }) => (
        <DialogButton label="Review…" scope="review">
          {(close) => (
            <FeedbackDialog
              run={run}
              onChange={({ id }) => update((runs) => runs.filter((each) => each.id !== id))}
              onClose={close}
            />
          )}
        </DialogButton>
      ),
    },
  },
  empty: () => 'No run waits for a review: none has a low score.',
  Actions: () => <a href="#/runs">All runs</a>,
  End: ({ values, list }: Props) => <Agreement {...values} version={list.items.length} />,
})
