import type { ApprovalRecord } from '../../lib/contract/records/approval.ts'
import { useList } from '../api/use-list.ts'
import { AGENT_FILTER, TENANT_FILTER } from '../components/filters.ts'
import { AgentLink, Time } from '../components/values.tsx'
import { TextLink, VisibleText } from '../components/visible-text.tsx'
import { listPage } from '../list-page.tsx'
import { toHref } from '../state/location.ts'
import { describeOutcome, keyOf, shownValues } from './approvals.ts'

export const DecidedPage = listPage({
  title: 'Past decisions',
  path: '/approvals/decided',
  note: 'Decisions of people on approvals of runs that are kept. Approvals that nobody decided in time are on their runs.',
  filters: { ...AGENT_FILTER, ...TENANT_FILTER },
  useItems: ({ agent, tenantId }) =>
    useList<ApprovalRecord>('/v1/approvals', { query: { agent, tenantId, decided: true, limit: 50 }, keyOf }),
  noun: 'decision',
  caption: 'Decisions, the latest first',
  columns: {
    Decided: ({ decided }) => <Time value={decided?.decidedAt ?? null} />,
    Approval: {
      header: (approval) => (
        <TextLink href={toHref('/approvals', { item: keyOf(approval) })} text={approval.title} />
      ),
    },
    Values: {
      text: (approval) =>
        Object.entries(shownValues(approval)).map(([name, value]) => (
          <div key={name}>
            {name} <VisibleText text={value} />
          </div>
        )),
    },
    Decision: { text: ({ decided }) => decided && describeOutcome(decided) },
    Note: { text: ({ decided }) => decided?.note },
    Agent: ({ documentId }) => <AgentLink agentId={documentId} />,
    Tenant: { text: ({ tenantId }) => tenantId },
  },
  empty: () => 'Nobody has decided on an approval yet.',
  Actions: () => <a href="#/approvals">Open approvals</a>,
})
