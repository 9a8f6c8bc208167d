import type { ComponentChildren } from 'preact'
import type { UsageRowRecord } from '../../lib/contract/records/usage.ts'
import { useAgents } from '../api/agents.ts'
import { Loaded } from '../components/detail-page.tsx'
import { formatCost, formatCount, formatCountOf, shortId } from '../components/format.ts'
import { Card } from '../components/page.tsx'
import { PartsBar } from '../components/small-charts.tsx'
import { TextLink } from '../components/visible-text.tsx'
import { type Query, toHref } from '../state/location.ts'
import { type Period, type Span, spanOf, toRuns, type UsageOf } from './periods.ts'
import { addUpBy, type Totals } from './totals.ts'
import { INCOMPLETE_NOTE, useUsage } from './use-usage.ts'

type Props = { period: Period; of: UsageOf }

export function CostByAgent(props: Props) {
  const agents = useAgents()
  const nameOf = (id: string | null, runs: Query & Span) => {
    const agent = agents?.get(id ?? '')
    const href = toRuns({ ...runs, agent: agent?.slug ?? id })
    return <TextLink href={href} text={agent?.title ?? shortId(id ?? '')} />
  }
  return <CostBy groupBy="agent" title="Cost by agent" {...props} nameOf={nameOf} />
}

export const CostByTenant = (props: Props) => (
  <CostBy
    groupBy="tenant"
    title="Cost by tenant"
    {...props}
    nameOf={(tenantId, runs) =>
      tenantId === null ? 'No tenant' : <TextLink href={toRuns({ ...runs, tenantId })} text={tenantId} />
    }
  >
    <p>
      <a href={toHref('/tenants', { period: props.period })}>Tenants and their limits</a>
    </p>
  </CostBy>
)

type CostProps = Props & {
  groupBy: 'agent' | 'tenant'
  title: string
  nameOf: (key: string | null, runs: Query & Span) => ComponentChildren
  children?: ComponentChildren
}

function CostBy({ groupBy, title, period, of, nameOf, children }: CostProps) {
  const usage = useUsage(period, { groupBy, ...of })
  const runs = { ...of, ...spanOf(period, Date.now()) }
  const keyOf = (row: UsageRowRecord) => (groupBy === 'agent' ? row.agentId : row.tenantId) ?? null
  const groups = addUpBy(usage.data?.items ?? [], keyOf)
  return (
    <Card title={title}>
      <Loaded of={usage} label="Loading usage…">
        {({ isComplete }) => (
          <>
            {!isComplete && <p class="muted">{INCOMPLETE_NOTE}</p>}
            {groups.length === 0 && <p class="muted">No run ended in this time.</p>}
          </>
        )}
      </Loaded>
      <Ranking
        items={groups.map((group) => ({
          key: JSON.stringify(group.key),
          name: nameOf(group.key, runs),
          detail: describe(group),
          value: group.costUsd,
          text: formatCost(group.costUsd),
        }))}
      />
      {children}
    </Card>
  )
}

const describe = ({ runs, failed }: Totals): string =>
  `${formatCountOf(runs, 'run')}${failed > 0 ? `, ${formatCount(failed)} failed` : ''}`

type RankedItem = {
  key: string
  name: ComponentChildren
  detail?: string
  value: number
  text: string
}

const SHOWN = 10

/** The highest values, with a bar for each. @param items the highest first */
export function Ranking({ items, color = 1 }: { items: RankedItem[]; color?: 1 | 3 }) {
  const max = items[0]?.value ?? 0
  const others = items.length - SHOWN
  return (
    <>
      <ul class="ranking">
        {items.slice(0, SHOWN).map(({ key, name, detail, value, text }) => (
          <li key={key}>
            <span class="ranking-name">
              {name}
              {detail && <span class="muted">{detail}</span>}
            </span>
            <PartsBar parts={[{ size: value, color: `var(--series-${color})` }]} total={max} />
            <span class="numeric">{text}</span>
          </li>
        ))}
      </ul>
      {others > 0 && <p class="muted">And {formatCount(others)} more.</p>}
    </>
  )
}
